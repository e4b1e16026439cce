import { defineConfig } from "vitest/config"

const project = (name: string, include: Array<string>, testTimeout: number, more: object = {}) => ({
  test: { name, include, testTimeout, hookTimeout: 120_000, pool: "forks" as const, ...more }
})

export default defineConfig({
  test: {
    projects: [
      project("unit", ["test/**/*.test.ts"], 20_000, { exclude: ["test/e2e/**", "test/kubelet/**"] }),
      project("e2e", ["test/e2e/**/*.test.ts"], 30_000, { fileParallelism: false }),
      project("kubelet", ["test/kubelet/**/*.test.ts"], 120_000, { globalSetup: ["test/kubelet/build.ts"] })
    ]
  }
})
