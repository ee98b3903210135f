import { setFlagsFromString } from 'node:v8'

/**
 * V8's flags for WebAssembly, in which the embedded database's PostgreSQL runs:
 *
 * - How much of a function runs before V8 optimizes it: the default since V8 12, and seven times that of Node.js 20, with which each
 *   start spends more processor time on optimizing PostgreSQL than on anything else.
 * - A function is validated when it is first called, not all nine megabytes before the first: the module is our own.
 */
const FLAGS = ['--wasm-tiering-budget=13000000', '--wasm-lazy-validation']

/** Sets V8's flags for this process. Call it before anything is compiled: a code cache is only accepted with the flags that it had. */
export function setCompilerFlags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
}
