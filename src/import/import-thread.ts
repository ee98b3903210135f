import { createTaskThread, TaskTimeout } from '../core/task-thread.ts'
import { SECOND } from '../core/time.ts'
import { withPrivateCopy } from './private-copy.ts'
import { isDatabase, type Source } from './source-names.ts'
import type { Translation } from './translation.ts'
import { Unreadable } from './translation.ts'

/** What the thread is asked. */
export type ImportTask =
  | { readonly translate: Uint8Array; readonly source: Source }
  | { readonly database: string }
  | { readonly write: Pick<Translation, 'objects' | 'hasVariables'> }

/** What it answers. */
export type ImportAnswer = Translation | { readonly unreadable: string } | string

const thread = createTaskThread<ImportTask, ImportAnswer>('import/import-worker', {
  // 20 MB of JSON take a second.
  timeoutMs: 10 * SECOND,
  maxWaiting: 20,
  maxWaitingPerOwner: 2,
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
})

/** Translates the file of a source in a thread. @throws Unreadable, and Unavailable when the thread is too busy. */
export async function translateInThread(source: Source, file: Uint8Array, owner: string): Promise<Translation> {
  const answer = await ask(source, file, owner).catch((error: unknown) => {
    if (error instanceof TaskTimeout) throw new Unreadable('This takes too long to read.')
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new Unreadable('This takes too much memory to read.')
    throw error
  })
  if (typeof answer === 'object' && 'unreadable' in answer) throw new Unreadable(answer.unreadable)
  // The thread answers a task to translate with a translation.
  return answer as Translation
}

function ask(source: Source, file: Uint8Array, owner: string): Promise<ImportAnswer> {
  if (!isDatabase(source, file)) return thread.run(owner, { translate: file, source })
  return withPrivateCopy(file, (database) => thread.run(owner, { database }))
}

/** Writes objects as a configuration file in a thread. @throws Unavailable when the thread is too busy. */
export async function writeInThread(
  { objects, hasVariables }: Pick<Translation, 'objects' | 'hasVariables'>,
  owner: string,
): Promise<string> {
  // The thread answers a task to write with text.
  return (await thread.run(owner, { write: { objects, hasVariables } })) as string
}

/** Ends the thread, when the service stops. */
export const closeImportThread = thread.close
