import { setFlagsFromString } from 'node:v8'

/**
 * V8's flags. The first two are for WebAssembly, in which the embedded database's PostgreSQL runs:
 * - How much of a function runs before V8 optimizes it: the default since V8 12, which is seven times that of Node.js
 *   20. With that of Node.js 20, each start spends more processor time on optimizing PostgreSQL than on anything else.
 * - Validates a function when it is first called, instead of all nine megabytes before the first call. The module is
 *   our own.
 * - Collects young objects without the help of V8's other thread, which is busy compiling while the service starts.
 */
const FLAGS = ['--wasm-tiering-budget=13000000', '--wasm-lazy-validation', '--no-parallel-scavenge']

/**
 * Sets V8's flags for this process. Call it before anything is compiled: V8 accepts a code cache only with the flags of
 * its creation.
 */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
}
