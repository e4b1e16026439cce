/** A limit for whatever may hang. */

/** What `work` resolves with, or `late` after `ms`; rejections pass through. The work itself goes on: whoever can end it does. */
export const within = <A, B>(ms: number, work: Promise<A>, late: B): Promise<A | B> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<B>((resolve) => {
    timer = setTimeout(() => resolve(late), ms)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
