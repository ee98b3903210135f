/** Loaded before the service: tells the bench, when asked, what the main thread knows of its memory. */
process.on('message', () => process.send?.(process.memoryUsage()))
process.channel?.unref()
