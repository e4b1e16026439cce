/** What a registrar remembers, what it is started with, and what it ends with. Plain data: it is printed, logged and compared. */
import { defaults } from "./policies.ts"

/** Which part of the lifecycle could not go on. */
export type Step = "connecting" | "identifying" | "announcing" | "registering" | "removing" | "running"

/** Why something could not be done: what was found, and what a person can do about it. */
export interface Failure {
  readonly step: Step
  readonly cause: string
  readonly advice: string
  /** What the log names beside the cause, by its key. */
  readonly facts?: Readonly<Record<string, string>>
}

/** The settings that change what the chart does; each is a flag. */
export interface Policy {
  /** From the start until the driver has told its name, in milliseconds; 0 = no limit. */
  readonly connectTimeoutMs: number
  /** Refusals in a row before giving up; 0 = no limit. */
  readonly registrationAttempts: number
  /** Whether a driver that was lost and is back is announced anew. */
  readonly reannounceOnDriverRestart: boolean
}

export const defaultPolicy: Policy = {
  connectTimeoutMs: defaults.connectTimeoutMs,
  registrationAttempts: defaults.registrationAttempts,
  reannounceOnDriverRestart: defaults.reannounceOnDriverRestart
}

export interface Input {
  readonly policy: Policy
}

export interface Context {
  readonly policy: Policy
  /** Empty until the driver has told it. */
  readonly driverName: string
  /** Why the driver cannot be used yet; the last words when the connect limit ends the wait. */
  readonly obstacle: Failure | undefined
  /** Attempts in a row that did not end with a driver that stays: it told no name, or was lost soon after. */
  readonly failedDials: number
  /** Whether a socket for this name has been in place: the first one takes over, later ones only heal. */
  readonly announced: boolean
  /** Sockets lost since the last quiet spell. */
  readonly losses: number
  /** Refusals since the last acceptance. */
  readonly refusals: number
  readonly refusal: { readonly text: string; readonly spread: number } | undefined
  readonly failure: Failure | undefined
  readonly dumpRequested: boolean
}

export const initialContext = ({ policy }: Input): Context => ({
  policy,
  driverName: "",
  obstacle: undefined,
  failedDials: 0,
  announced: false,
  losses: 0,
  refusals: 0,
  refusal: undefined,
  failure: undefined,
  dumpRequested: false
})

/** What the process ends with. */
export interface Output {
  /** 0 asked to stop, 1 failed, 2 stopped by SIGQUIT. */
  readonly exitCode: 0 | 1 | 2
  readonly failure: Failure | undefined
}

export const outputOf = ({ dumpRequested, failure }: Context): Output => ({
  exitCode: dumpRequested ? 2 : failure === undefined ? 0 : 1,
  failure
})
