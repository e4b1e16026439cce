/**
 * Claim: the registrar works with the command lines of real deployments as they are written. Each of fixtures/deployments.jsonl, which holds one for
 * each way in which the arguments are written, registers, answers its own probe, and ends on SIGTERM with exit 0.
 *
 * What a container would have at `/` lies in the world's folder; only the paths and ports in the words are replaced, and the registration folder, which
 * no deployment names, is added. A deployment that relies on the default paths runs in a root of its own, as it does in a container, and nothing is replaced.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

import { expect, onTestFinished } from "vitest"

import { Program } from "../fakes/peers/Program.ts"
import { Http } from "./Http.ts"
import { Registrar, said } from "./Registrar.ts"
import { it, underTest, type World } from "./World.ts"

interface Deployment {
  readonly project: string
  readonly args: ReadonlyArray<string>
  /** Where the whole command line is in the command, not in `args`. */
  readonly entrypoint?: ReadonlyArray<string>
  readonly probe:
    | { readonly http: { readonly path: string; readonly port: number; readonly host?: string } }
    | { readonly exec: ReadonlyArray<string> }
    | null
}

const deployments = fs
  .readFileSync(join(import.meta.dirname, "../fixtures/deployments.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Deployment)

/** The words behind the program's name. */
const wordsOf = ({ args, entrypoint }: Deployment) => [...(entrypoint?.slice(1) ?? []), ...args]

const valueOf = (words: ReadonlyArray<string>, name: string): string | undefined => {
  const at = words.findIndex((word) => word.replace(/^--?/, "").split("=", 1)[0] === name)
  const word = words[at]
  if (word === undefined) return undefined
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : words[at + 1]
}

const withoutScheme = (address: string) => address.replace(/^unix:\/\//, "")

/** What the driver of a path may call itself. */
const nameFor = (kubeletPath: string) => basename(dirname(kubeletPath))

/** In each word the path, whatever stands before it, and the port at its end. */
const rewritten = (words: ReadonlyArray<string>, root: string, port: number) =>
  words.map((word) =>
    word
      .replace(/^((?:-[^=]*=)?(?:unix:\/\/)?)(?=\/)/, `$1${root}`)
      .replace(/^((?:-[^=]*=)?(?:[\w.]*:)?)\d{4,5}$/, `$1${port}`)
  )

const freePort = async () => Number((await Http.open()).flag.split(":").at(-1))

const start = (command: ReadonlyArray<string>): Registrar => {
  const program = new Program("registrar", command)
  onTestFinished(async () => {
    await program.kill()
  })
  return new Registrar(program)
}

const openDriver = async (world: World, address: string, name: string) => {
  fs.mkdirSync(dirname(address), { recursive: true })
  await world.absentDriver(name, address).comes()
}

/** As the kubelet does it. */
const register = async (world: World, registrar: Registrar, socket: string) => {
  await registrar.says(said.started)
  const kubelet = world.kubelet(socket)
  const info = await kubelet.getInfo()
  expect(await kubelet.notify(true)).toEqual({})
  await registrar.says(said.registered)
  kubelet.close()
  return info
}

const askHttp = async (host: string, port: number, path: string) => {
  const response = await fetch(`http://${host}:${port}${path}`, { headers: { connection: "close" } })
  return `${response.status} ${await response.text()}`
}

const titleOf = (deployment: Deployment) => `${deployment.project}: ${wordsOf(deployment).join(" ")}`
const hasAddress = (deployment: Deployment) => valueOf(wordsOf(deployment), "csi-address") !== undefined
const withAddress = deployments.filter(hasAddress).map((each) => [titleOf(each), each] as const)
const withDefaults = deployments.filter((each) => !hasAddress(each)).map((each) => [titleOf(each), each] as const)

it("they are all there", () => {
  expect(withAddress).toHaveLength(37)
  expect(withDefaults).toHaveLength(1)
})

it.for(withAddress)("%s", async ([, deployment], { world }) => {
  const port = await freePort()
  const folder = join(world.root, "registration")
  fs.mkdirSync(folder)
  const given = wordsOf(deployment)
  const words = rewritten(given, world.root, port)
  const [address = "", path = ""] = [valueOf(words, "csi-address"), valueOf(words, "kubelet-registration-path")]
  expect(address).toContain(world.root)
  const name = nameFor(path)
  await openDriver(world, withoutScheme(address), name)

  const registrar = start([...underTest(), ...words, `--plugin-registration-path=${folder}`])
  const info = await register(world, registrar, join(folder, `${name}-reg.sock`))

  expect(info).toEqual({ type: "CSIPlugin", name, endpoint: path, supported_versions: ["1.0.0"] })
  const { probe } = deployment
  if (probe !== null && "http" in probe) {
    expect(await askHttp(probe.http.host ?? "127.0.0.1", port, probe.http.path)).toBe("200 ok")
  }
  if (probe !== null && "exec" in probe) {
    const asked = start([...underTest(), ...rewritten(probe.exec.slice(1), world.root, port)])
    expect(await asked.program.exited).toMatchObject({ code: 0, signal: null })
    expect(asked.lines).toEqual([expect.stringContaining('"Probe succeeded" state="registered"')])
  }
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(registrar.lines.filter((line) => line.startsWith("E"))).toEqual([])
  expect(world.entries(folder)).toEqual([])
})

/**
 * Enters a root whose folders are those of this machine, beside what lies in it already, and runs the rest of the words there. In a mount namespace
 * of its own, so that nothing is left of it.
 */
const inRootOf = `
  set -e
  root=$0
  for entry in /*; do
    [ -e "$root$entry" ] && continue
    if [ -L "$entry" ]; then cp -P "$entry" "$root$entry"
    elif [ -d "$entry" ]; then mkdir "$root$entry"; mount --rbind "$entry" "$root$entry"
    fi
  done
  exec chroot "$root" "$@"`
const newNamespace = ["unshare", "--mount"]
const mayMount = spawnSync("unshare", [...newNamespace.slice(1), "mount", "--bind", "/tmp", "/tmp"]).status === 0

it.skipIf(!mayMount).for(withDefaults)(
  mayMount ? "%s" : "%s (left out: no right to mount, and the default paths are not those of a test)",
  async ([, deployment], { world }) => {
    const root = join(world.root, "root")
    const folder = join(root, "registration")
    fs.mkdirSync(folder, { recursive: true })
    const words = wordsOf(deployment)
    const path = valueOf(words, "kubelet-registration-path") ?? ""
    const name = nameFor(path)
    await openDriver(world, join(root, "run/csi/socket"), name)

    const registrar = start([
      ...newNamespace,
      "sh",
      "-c",
      inRootOf,
      root,
      ...underTest().map((word) => resolve(word)),
      ...words
    ])
    const info = await register(world, registrar, join(folder, `${name}-reg.sock`))

    expect(info).toMatchObject({ name, endpoint: path })
    expect(registrar.lines).toContainEqual(
      expect.stringContaining(`"Registration Server started" socketPath="/registration/${name}-reg.sock"`)
    )
    expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
    expect(world.entries(folder)).toEqual([])
  }
)
