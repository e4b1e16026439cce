/** A line of the registrar's log, for a reader who knows already when and by whom it was written. */

export interface LogLine {
  readonly severity: "info" | "error"
  /** Message and values, without klog's header. */
  readonly text: string
}

const header = /^([IE])\d{4} \S+ +\d+ [^\]]+\] (.*)$/

/** Lines without a header belong to a value of the line before, and keep their text. */
export const parseLogLine = (line: string): LogLine => {
  const [, letter, text = line] = header.exec(line) ?? []
  return { severity: letter === "E" ? "error" : "info", text }
}

const everyday = [
  "Version",
  "Running node-driver-registrar",
  "Starting HTTP server",
  "Starting Registration Server",
  "Registration Server started",
  "Received NotifyRegistrationStatus call"
]

/** Whether the line tells a person something that the rest of the screen does not. */
export const isInteresting = ({ text }: LogLine): boolean =>
  !everyday.some((message) => text.startsWith(`"${message}"`))
