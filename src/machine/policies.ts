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
