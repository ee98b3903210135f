import type { Note, Objects } from './translation.ts'
import type { Refusal } from './without.ts'
import { without } from './without.ts'

/** A plan finds 100 refusals at once. */
const MAX_ROUNDS = 30

/** What a plan came to: refusals, or whatever the caller makes of a plan. */
type Attempt<P> = { readonly refusals: readonly Refusal[] } | { readonly planned: P }

/** Objects cannot be planned, whatever is left out. */
export class Unplannable extends Error {}

/**
 * Plans objects, and leaves out what is refused until nothing is.
 * @throws Unplannable when a refusal is about no object, or too much is refused.
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
    const rest = without(left, answer.refusals)
    if (rest === null)
      throw new Unplannable(answer.refusals.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'))
    left = rest.objects
    refused.push(...rest.notes)
  }
  throw new Unplannable('Too much of this is refused.')
}
