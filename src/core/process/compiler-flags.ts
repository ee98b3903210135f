import { setFlagsFromString } from 'node:v8'

/**
 * How much of a WebAssembly function runs before V8 optimizes it: the default since V8 12, and seven times that of Node.js 20. With
 * that, the embedded database has V8 optimize half of PostgreSQL at each start, which takes more processor time than the start itself.
 */
const TIERING_BUDGET = 13_000_000

/** Sets V8's flags for this process. Call it before anything is compiled: a code cache is only accepted with the flags that it had. */
export function setCompilerFlags(): void {
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`)
}
