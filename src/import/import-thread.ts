import { errorCode } from '../core/error-code.ts'
import { createTaskThread, TaskTimeout } from '../core/thread/task-thread.ts'
import { SECOND } from '../core/time.ts'
import type { Installation } from './installation.ts'
import { withPrivateCopy } from './private-copy.ts'
import { isDatabase } from './source-names.ts'
import type { Translation } from './translation.ts'
import { Unreadable } from './translation.ts'

/** A task of the thread. */
export type ImportTask =
  | { readonly translate: Uint8Array; readonly installation: Installation }
  | { readonly database: string; readonly installation: Installation }
  | { readonly write: Pick<Translation, 'objects' | 'hasVariables'> }

/** The result of a task. */
export type ImportAnswer = Translation | { readonly unreadable: string } | string

const thread = createTaskThread<ImportTask, ImportAnswer>('import/import-worker', {
  // 20 MB of JSON take one second.
  timeoutMs: 10 * SECOND,
  maxWaiting: 20,
  maxWaitingPerOwner: 2,
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
})

/** Translates the file of a source in a thread. @throws Unreadable, and Unavailable if the thread is too busy. */
export async function translateInThread(
  installation: Installation,
  file: Uint8Array,
  owner: string,
): Promise<Translation> {
  const answer = await ask(installation, file, owner).catch((error: unknown) => {
    if (error instanceof TaskTimeout) throw new Unreadable('This takes too long to read.')
    if (errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY') throw new Unreadable('This takes too much memory to read.')
    throw error
  })
  if (typeof answer === 'object' && 'unreadable' in answer) throw new Unreadable(answer.unreadable)
  // The thread answers a translation task with a translation.
  return answer as Translation
}

function ask(installation: Installation, file: Uint8Array, owner: string): Promise<ImportAnswer> {
  if (!isDatabase(installation.source, file)) return thread.run(owner, { translate: file, installation })
  return withPrivateCopy(file, (database) => thread.run(owner, { database, installation }))
}

/** Writes objects as a configuration file in a thread. @throws Unavailable if the thread is too busy. */
export async function writeInThread(
  { objects, hasVariables }: Pick<Translation, 'objects' | 'hasVariables'>,
  owner: string,
): Promise<string> {
  // The thread answers a write task with a string.
  return (await thread.run(owner, { write: { objects, hasVariables } })) as string
}

/** Ends the thread when the service stops. */
export const closeImportThread = thread.close
