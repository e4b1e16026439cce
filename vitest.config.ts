import { defineConfig } from "vitest/config"

/** Cases that hold the bundle to milliseconds, or to memory: they get the machine for themselves. */
const timed = [
  "signals",
  "lateDriver",
  "socketLoss",
  "twoRegistrars",
  "refusal",
  "driverLoss",
  "hostileClients",
  "httpAbuse",
  "scarcity"
]
const timedFiles = timed.map((name) => `test/e2e/${name}.test.ts`)

/** Projects run one after the other, in this order; the files of one side by side, `workers` at a time. */
const project = (
  name: string,
  order: number,
  workers: number,
  test: { include: Array<string>; exclude?: Array<string>; testTimeout: number; globalSetup?: Array<string> }
) => ({
  test: {
    name,
    hookTimeout: 120_000,
    pool: "forks" as const,
    maxWorkers: workers,
    sequence: { groupOrder: order },
    ...test
  }
})

export default defineConfig({
  test: {
    projects: [
      project("unit", 0, 2, {
        include: ["test/**/*.test.ts"],
        exclude: ["e2e", "kubelet", "cluster", "binary", "image", "browser"].map((folder) => `test/${folder}/**`),
        testTimeout: 20_000
      }),
      project("e2e", 1, 2, { include: ["test/e2e/**/*.test.ts"], exclude: timedFiles, testTimeout: 30_000 }),
      project("timed", 2, 1, { include: timedFiles, testTimeout: 30_000 }),
      project("kubelet", 3, 1, {
        include: ["test/kubelet/**/*.test.ts"],
        testTimeout: 120_000,
        globalSetup: ["test/kubelet/build.ts"]
      }),
      project("browser", 7, 1, { include: ["test/browser/**/*.test.ts"], testTimeout: 60_000 }),
      project("binary", 6, 2, { include: ["test/binary/**/*.test.ts"], testTimeout: 60_000 }),
      project("cluster", 4, 1, {
        include: ["test/cluster/**/*.test.ts"],
        testTimeout: 180_000,
        globalSetup: ["test/cluster/setup.ts"]
      }),
      project("image", 5, 2, {
        include: ["test/image/**/*.test.ts"],
        testTimeout: 180_000,
        globalSetup: ["test/image/setup.ts"]
      })
    ]
  }
})
