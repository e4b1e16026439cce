/**
 * What may happen to a registrar. Whoever sees it decides what it was: a verdict of the kubelet arrives as `kubelet.accepted` or
 * `kubelet.refused`, never as one event with a flag inside, so every choice is an edge of the picture.
 */
import type { Failure } from "./context.ts"

/** Sent by whoever talks to the CSI driver. */
export type DriverEvent =
  /** The driver cannot be reached yet; sent once for each change of the cause, while the attempt goes on. */
  | { readonly type: "driver.awaited"; readonly obstacle: Failure }
  /** It told its name, and the name is a CSI name. */
  | { readonly type: "driver.identified"; readonly name: string }
  /** This attempt is over; another one may succeed. */
  | { readonly type: "driver.unavailable"; readonly obstacle: Failure }
  /** It answered, and no retry would change the answer (Unimplemented, a name outside CSI's rules). */
  | { readonly type: "driver.rejected"; readonly failure: Failure }
  /** The connection to a driver that had told its name is gone. */
  | { readonly type: "driver.lost" }

/** Raised by the chart itself when a lost driver is back. */
export type ReturnEvent =
  | { readonly type: "driver.renamed"; readonly name: string }
  | { readonly type: "driver.restarted" }

/** Sent by whoever owns the registration socket. */
export type SocketEvent =
  /** Our socket is in place, on a server that already answers. */
  | { readonly type: "socket.placed"; readonly path: string; readonly tookOver: boolean }
  /** Our socket is gone, or something dead lies in its place. */
  | { readonly type: "socket.removed" }
  /** A live registrar has its socket where ours was. */
  | { readonly type: "socket.displaced" }
  /** The registrar that displaced us has left: its socket is gone or no longer answers. */
  | { readonly type: "socket.vacated" }
  /** No socket can be put in place now, for want of something that may be there again in a while. */
  | { readonly type: "socket.blocked"; readonly obstacle: Failure }
  /** No socket can be put in place, and no retry would change that. */
  | { readonly type: "socket.failed"; readonly failure: Failure }
  /** At the end our socket could not be removed; it stays behind. */
  | { readonly type: "socket.stranded"; readonly failure: Failure }

/** Sent by the registration service, after the reply has been handed to the kubelet. */
export type KubeletEvent =
  | { readonly type: "kubelet.asked" }
  | { readonly type: "kubelet.accepted" }
  /** `text` is the kubelet's own; `spread`, from -1 to 1, is drawn by the sender, since the chart has no dice. */
  | { readonly type: "kubelet.refused"; readonly text: string; readonly spread: number }

/** Sent by the process. */
export type ProcessEvent =
  /** SIGTERM, SIGINT or SIGHUP. */
  | { readonly type: "stop.requested"; readonly signal: string }
  /** SIGQUIT: the state and the last transitions are printed, the exit code is 2. */
  | { readonly type: "dump.requested" }
  /** An uncaught exception or an unhandled rejection. */
  | { readonly type: "program.crashed"; readonly failure: Failure }

export type RegistrarEvent = DriverEvent | ReturnEvent | SocketEvent | KubeletEvent | ProcessEvent
