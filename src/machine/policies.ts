/**
 * Every number and every choice of the lifecycle: limits, back-offs, attempts, and the defaults of the flags that set them.
 * The README's policy table is read from here, and so is the flags table; nothing in this file needs xstate or knows a clock.
 */

/** Defaults of the flags that tune the lifecycle. Milliseconds unless the name says otherwise; 0 means "no limit" where a limit is meant. */
export const defaults = {
  /** `--timeout`: one GetPluginInfo call, and one GetInfo of the self-check. */
  callTimeoutMs: 1_000,
  /** `--csi-connect-timeout`: from the start until the driver has told its name. */
  connectTimeoutMs: 300_000,
  /** `--registration-attempts`: refusals in a row before the registrar gives up. */
  registrationAttempts: 10,
  /** `--reannounce-on-driver-restart`: put a new registration socket in place when a lost driver is back. */
  reannounceOnDriverRestart: false
} as const

/** Limits that no flag changes, in milliseconds. */
export const limits = {
  /** One attempt to get a usable HTTP/2 connection to the driver. */
  dialMs: 2_000,
  /** A driver that stays connected for this long is not flapping. */
  settledMs: 10_000,
  /** After this long without losing the socket, earlier losses are forgotten. */
  quietMs: 300_000,
  /**
   * A kubelet before 1.36 that has refused never asks again by itself, and a GetInfo may have come from somebody else. Its verdict may take
   * two minutes (NodeGetInfo) and the API calls after it, so after this long a refused driver is announced again.
   */
  verdictMs: 150_000,
  /** The whole of `stopping`. */
  graceMs: 2_000,
  /** Within `stopping`: calls that are open get this long to be answered. A handler answers from memory, so only a peer can be slow. */
  openCallsMs: 50
} as const

const doubling = (first: number, times: number, ceiling: number) => Math.min(ceiling, first * 2 ** Math.max(0, times))

/** Rest after the nth attempt in a row that ended without a driver that stays: 0.2 s doubling to 2 s. */
export const dialRestMs = (failedDials: number) => doubling(200, failedDials - 1, 2_000)

/** Rest before the socket is put back after the nth loss since the last quiet spell, from the second on (the first is mended at once): 1 s doubling to 30 s. */
export const healRestMs = (losses: number) => doubling(1_000, losses - 2, 30_000)

/** Rest before the next announcement after the nth refusal in a row: 1 s doubling to 60 s, ± 20 % by `spread` (-1 to 1), so that a fleet does not retry in step. */
export const refusalRestMs = (refusals: number, spread: number) =>
  Math.round(doubling(1_000, refusals - 1, 60_000) * (1 + 0.2 * Math.max(-1, Math.min(1, spread))))

/** Between two reminders of a wait, the nth from 0: after 10 s, 30 s, 1, 2 and 5 minutes, then every 10 minutes. */
export const remindRestMs = (reminders: number) => {
  const at = [0, 10_000, 30_000, 60_000, 120_000, 300_000]
  const [from, to] = [at[reminders], at[reminders + 1]]
  return from === undefined || to === undefined ? 600_000 : to - from
}

/** While connecting, upstream reminds at this interval, and people grep for it. */
export const stillConnectingEveryMs = 10_000

/** Whether one more refusal uses up the attempts. */
export const attemptsUsedUp = (refusals: number, attempts: number) => attempts > 0 && refusals + 1 >= attempts
