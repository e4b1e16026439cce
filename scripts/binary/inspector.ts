/** V8's inspector on the own process: its answers come before the call returns. */
import { Session } from "node:inspector"

export interface Inspector {
  readonly session: Session
  readonly ask: (method: string, params?: object) => unknown
}

export const inspector = (): Inspector => {
  const session = new Session()
  session.connect()
  const post = session.post.bind(session) as (
    method: string,
    params: object,
    callback: (error: Error | null, result: unknown) => void
  ) => void
  return {
    session,
    ask: (method, params = {}) => {
      let error: Error | null = null
      let result: unknown
      post(method, params, (failure, answer) => {
        error = failure
        result = answer
      })
      if (error !== null) throw error
      return result
    }
  }
}
