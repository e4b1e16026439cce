/**
 * Claim: the registrar needs a folder that it may write to and the driver's socket, and nothing else of what a process usually finds: no writable root,
 * no temporary folder, no home, no environment, no superuser, no open standard streams. It registers, and ends with exit 0.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

import { expect } from "vitest"

import { driverName, endpoint, it, socketName, type World } from "./World.ts"

/** A whole life, without a look at what it says: not every surrounding has a place for that. */
const livesIn = async (world: World, wrapper: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => {
  const driver = await world.driver()
  fs.chmodSync(world.root, 0o755)
  fs.chmodSync(driver.address, 0o777)
  const watch = world.watch()
  world.wrapper = wrapper
  const registrar = world.registrar(...flags)
  await watch.appears(socketName)
  const kubelet = world.kubelet()
  expect(await kubelet.getInfo()).toMatchObject({ name: driverName, endpoint })
  expect(await kubelet.notify(true)).toEqual({})
  expect(await registrar.end()).toMatchObject({ code: 0, signal: null })
  expect(world.entries()).toEqual([])
  return registrar
}

const shell = (script: string, name = "sh", ...words: ReadonlyArray<string>) => ["sh", "-c", script, name, ...words]
const ofErrors = (lines: ReadonlyArray<string>) => lines.filter((line) => line.startsWith("E"))

it("an empty environment, without a home and a path", async ({ world }) => {
  const registrar = await livesIn(world, ["env", "--ignore-environment"])

  expect(ofErrors(registrar.lines)).toEqual([])
})

it.for(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])("closed standard streams: %s", async (redirections, { world }) => {
  await livesIn(world, shell(`exec "$@" ${redirections}`), "--log-text-split-stream")
})

it("no more than 32 open files at a time", async ({ world }) => {
  const registrar = await livesIn(world, shell('ulimit -n 32; exec "$@"'))

  expect(ofErrors(registrar.lines)).toEqual([])
})

it("a working directory that has been removed", async ({ world }) => {
  const gone = `${world.root}/gone`
  fs.mkdirSync(gone)
  const registrar = await livesIn(world, shell('cd "$0"; rmdir "$0"; exec "$@"', gone))

  expect(ofErrors(registrar.lines)).toEqual([])
})

const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
const mayDropRights = spawnSync("setpriv", [...nobody.slice(1), "true"]).status === 0

it.skipIf(!mayDropRights)(
  mayDropRights
    ? "uid 65534 without any capability, in a folder of its own"
    : "uid 65534 (left out: no right to run as another user)",
  async ({ world }) => {
    fs.chownSync(world.registry, 65_534, 65_534)
    fs.chmodSync(world.registry, 0o750)
    const registrar = await livesIn(world, nobody)

    expect(ofErrors(registrar.lines)).toEqual([])
  }
)

/**
 * Makes all that is mounted read-only, and hides /tmp under an empty folder (the repository may lie there, and is reached by another way); of the world only the part that its owner mounts for the registrar stays
 * writable, as in a pod. Ends with 99 where something could be written all the same.
 */
const readOnly = `
  set -e
  world=$0 repository=$1
  shift
  mount -t tmpfs none /mnt
  mkdir /mnt/world /mnt/repository
  mount --rbind "$world" /mnt/world
  mount --rbind "$repository" /mnt/repository
  for word do
    shift
    case $word in "$repository"/*) word=/mnt/repository\${word#"$repository"} ;; esac
    set -- "$@" "$word"
  done
  for at in $(cut -d' ' -f5 /proc/self/mountinfo | sort -u); do
    case $at in
      /mnt/world) ;;
      *) mount -o remount,bind,ro "$at" 2>/dev/null || : ;;
    esac
  done
  mount -t tmpfs -o ro,mode=0 none /tmp
  for folder in / /tmp /var/tmp /dev/shm /run "$HOME"; do
    if touch "$folder/written" 2>/dev/null; then exit 99; fi
  done
  exec "$@"`
const repository = path.resolve(import.meta.dirname, "../..")
const newNamespace = ["unshare", "--mount"]
const mayMount = spawnSync("unshare", [...newNamespace.slice(1), "mount", "--bind", "/tmp", "/mnt"]).status === 0

it.skipIf(!mayMount)(
  mayMount
    ? "a read-only root, and no temporary folder"
    : "a read-only root, and no temporary folder (left out: no right to mount)",
  async ({ world }) => {
    const registrar = await livesIn(
      world,
      [...newNamespace, ...shell(readOnly, world.root, repository)],
      "--csi-address=/mnt/world/csi.sock",
      "--plugin-registration-path=/mnt/world/reg",
      "--v=5"
    )

    expect(ofErrors(registrar.lines)).toEqual([])
    expect(registrar.messages).not.toContain("Probes cannot ask this registrar")
  }
)
