import { loadBundle } from '../core/process/compiled-bundle.ts'
import { isBundled } from '../core/thread/worker-module.ts'

type Program = typeof import('../app/program.ts')

/** Loads the service’s program, with database and mail, on demand, so that other commands start quickly. */
export async function loadProgram(): Promise<Program> {
  // A variable, because a literal would put the program into this file's bundle.
  const source: string = '../app/program.ts'
  return isBundled ? loadBundle<Program>('app/program').exports : import(source)
}
