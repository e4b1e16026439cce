/** A gRPC error as Go prints it, which is how people know it: `rpc error: code = Unavailable desc = …`. */
import type { ServiceError } from "@grpc/grpc-js"
import { status } from "@grpc/grpc-js"

/** The name of a status code in Go, such as `DeadlineExceeded`. */
export const codeName = (code: number): string => {
  if (code === status.CANCELLED) return "Canceled"
  if (code === status.OK) return "OK"
  const name = status[code]
  if (name === undefined) return `Code(${code})`
  return name
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
}

export const rpcError = ({ code, details }: Pick<ServiceError, "code" | "details">): string =>
  `rpc error: code = ${codeName(code)} desc = ${code === status.DEADLINE_EXCEEDED ? "context deadline exceeded" : details}`
