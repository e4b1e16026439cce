/** What there is below /debug/pprof/, for a browser. */
export const indexPage = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>/debug/pprof/</title></head>
<body>
<h1>/debug/pprof/</h1>
<p>Profiles of this registrar, for <code>go tool pprof</code>:</p>
<ul>
<li><a href="profile">profile</a>: CPU, for 30 seconds, or <code>?seconds=N</code></li>
<li><a href="heap">heap</a>: live allocations, sampled; <code>?gc=1</code> collects garbage before</li>
</ul>
</body>
</html>
`
