import type { Note, Objects } from './translation.ts'
import type { Refusal } from './without-refused.ts'
import { withoutRefused } from './without-refused.ts'

/** The maximum number of planning rounds. Each finds up to 100 refusals. */
const MAX_ROUNDS = 30

/** The result of planning: refusals, or the caller's plan. */
type Attempt<P> = { readonly refusals: readonly Refusal[] } | { readonly planned: P }

/** Planning fails even without the refused objects. */
export class Unplannable extends Error {}

/**
 * Plans objects repeatedly, leaving out refused ones, until none is refused.
 * @throws Unplannable if a refusal concerns no object, or too many objects are refused.
 */
export async function planWithoutRefused<P>(
  objects: Objects,
  attempt: (objects: Objects) => Promise<Attempt<P>>,
): Promise<{ readonly planned: P; readonly refused: readonly Note[] }> {
  let left = objects
  const refused: Note[] = []
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await attempt(left)
    if ('planned' in answer) return { planned: answer.planned, refused }
    const rest = withoutRefused(left, answer.refusals)
    if (rest === null)
      throw new Unplannable(answer.refusals.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'))
    left = rest.objects
    refused.push(...rest.notes)
  }
  throw new Unplannable('Too many objects are refused.')
}
