/**
 * How the image tells glibc to keep little: one arena, and what is free at the end of the heap goes back. What is large gets a mapping of its own, which goes
 * back wherever it lay: buffers of HTTP/2 would leave holes in the heap, and of a thousand calls 20 MiB stay. Below 32 KiB it costs more CPU and gains little.
 */
export const imageEnvironment = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "0",
  MALLOC_MMAP_THRESHOLD_: "32768"
} as const
