import { createTaskProcess, TaskOutOfMemory } from '../core/thread/task-process.ts'
import { TaskTimeout } from '../core/thread/task-runner.ts'
import { SECOND } from '../core/time.ts'
import type { Installation } from './installation.ts'
import { withPrivateCopy } from './private-copy.ts'
import { isDatabase } from './source-names.ts'
import type { Translation } from './translation.ts'
import { Unreadable } from './translation.ts'

/** A task of the process. `text` and `database` are paths. */
export type ImportTask =
  | { readonly text: string; readonly installation: Installation }
  | { readonly database: string; readonly installation: Installation }
  | { readonly write: Pick<Translation, 'objects' | 'hasVariables'> }

/** The result of a task. */
export type ImportAnswer = Translation | { readonly unreadable: string } | string

const tasks = createTaskProcess<ImportTask, ImportAnswer>('import/import-worker', {
  // 20 MB of JSON take one second.
  timeoutMs: 10 * SECOND,
  maxWaiting: 20,
  maxWaitingPerOwner: 2,
  maxHeapMb: 256,
})

/** Translates the file of a source in a process. @throws Unreadable, and Unavailable if it is too busy. */
export async function translateInProcess(
  installation: Installation,
  file: Uint8Array,
  owner: string,
): Promise<Translation> {
  const answer = await ask(installation, file, owner).catch((error: unknown) => {
    if (error instanceof TaskTimeout) throw new Unreadable('This takes too long to read.')
    if (error instanceof TaskOutOfMemory) throw new Unreadable('This takes too much memory to read.')
    throw error
  })
  if (typeof answer === 'object' && 'unreadable' in answer) throw new Unreadable(answer.unreadable)
  // The process answers a translation task with a translation.
  return answer as Translation
}

function ask(installation: Installation, file: Uint8Array, owner: string): Promise<ImportAnswer> {
  return withPrivateCopy(file, (path) => {
    const given = isDatabase(installation.source, file) ? { database: path } : { text: path }
    return tasks.run(owner, { ...given, installation })
  })
}

/** Writes objects as a configuration file in a process. @throws Unavailable if it is too busy. */
export async function writeInProcess(
  { objects, hasVariables }: Pick<Translation, 'objects' | 'hasVariables'>,
  owner: string,
): Promise<string> {
  // The process answers a write task with a string.
  return (await tasks.run(owner, { write: { objects, hasVariables } })) as string
}

/** Ends the process when the service stops. */
export const closeImportProcess = tasks.close
