/** The code of a system error, or its text. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
