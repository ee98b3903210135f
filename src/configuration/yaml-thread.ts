import type { Issue } from '../core/errors.ts'
import { createTaskThread, TaskTimeout } from '../core/thread/task-thread.ts'
import { SECOND } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { YamlText } from './yaml-text.ts'

/** A task of the thread. */
export type YamlTask =
  | { readonly read: string }
  | { readonly write: { readonly comment: string; readonly value: unknown } }

const thread = createTaskThread<YamlTask, YamlText | readonly Issue[] | string>('configuration/yaml-worker', {
  // The largest file takes a tenth of this.
  timeoutMs: 5 * SECOND,
  maxWaiting: 50,
  maxWaitingPerOwner: 5,
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
})

/** Parses YAML in a thread. @throws Invalid with the line of each problem, and Unavailable if the thread is too busy. */
export async function readYamlText(text: string, owner: string): Promise<YamlText> {
  const read = await thread.run(owner, { read: text }).catch((error: unknown) => {
    if (error instanceof TaskTimeout) throw invalid([{ path: [], message: 'takes too long to read' }])
    throw error
  })
  if (typeof read === 'object' && 'lines' in read) return read
  throw invalid(read as readonly Issue[])
}

/** Writes YAML in a thread. @throws Unavailable if the thread is too busy. */
export async function writeYamlText(comment: string, value: unknown, owner: string): Promise<string> {
  // The thread answers a write task with a string.
  return (await thread.run(owner, { write: { comment, value } })) as string
}

/** Ends the thread when the service stops. */
export const closeYamlThread = thread.close
