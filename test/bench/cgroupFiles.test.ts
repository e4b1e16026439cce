/** Claim: cgroups are found and read in version 1, in version 2, and in a hybrid of both. */
import { assert, it } from "@effect/vitest"

import { entryOf, layoutOf, memoryOf, quotaUs } from "../../bench/cgroupFiles.ts"

const version1 = `tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
`
const unified = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"
const version2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0\n"

const layouts = [
  ["version 1", version1, "", { version: 1, memory: "/sys/fs/cgroup/memory", cpu: "/sys/fs/cgroup/cpu,cpuacct" }],
  [
    "a hybrid, whose version 2 has no controllers",
    unified + version1,
    "",
    { version: 1, memory: "/sys/fs/cgroup/memory", cpu: "/sys/fs/cgroup/cpu,cpuacct" }
  ],
  ["version 2", version2, "cpuset cpu io memory pids\n", { version: 2, root: "/sys/fs/cgroup" }],
  ["version 2 without what is needed", version2, "pids\n", undefined],
  ["none", "proc /proc proc rw 0 0\n", "", undefined]
] as const

for (const [name, mounts, controllers, expected] of layouts) {
  it(`layout: ${name}`, () =>
    assert.deepStrictEqual(
      layoutOf(mounts, () => controllers),
      expected
    ))
}

it("a name and a number a line", () => {
  const events = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"
  assert.strictEqual(entryOf(events, "oom_kill"), 2)
  assert.strictEqual(entryOf("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "oom_kill"), 1)
  assert.strictEqual(entryOf("oom_kill_disable 0\nunder_oom 0\n", "oom_kill"), 0)
})

const MiB = 2 ** 20

it("memory of version 1 counts what is below the group as well", () => {
  const stat = `cache 0\nrss 0\ninactive_file 0\ntotal_rss ${5 * MiB}\ntotal_rss_huge 0\ntotal_inactive_file ${3 * MiB}\n`
  assert.deepStrictEqual(memoryOf(1, `${12 * MiB}\n`, stat), { anonymousMiB: 5, workingSetMiB: 9 })
})

it("memory of version 2", () => {
  const stat = `anon ${5 * MiB}\nfile ${4 * MiB}\ninactive_anon 0\ninactive_file ${3 * MiB}\n`
  assert.deepStrictEqual(memoryOf(2, `${12 * MiB}\n`, stat), { anonymousMiB: 5, workingSetMiB: 9 })
})

it("100m are 10 ms in a period of 100 ms", () => assert.strictEqual(quotaUs(100), 10_000))
