/**
 * How the image tells glibc to keep little: one arena, and what is free at the end of the heap goes back. What is large gets a mapping of its own, which goes
 * back wherever it lay: what connections need would leave holes in the heap, and of a thousand calls 20 MiB stay. Below 8 KiB there is little left to gain.
 */
export const imageEnvironment = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "0",
  MALLOC_MMAP_THRESHOLD_: "8192"
} as const
