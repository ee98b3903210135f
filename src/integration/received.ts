import type { SecretBox } from '../core/secret-box.ts'
import type { IncomingBody } from '../generated/prisma/client.ts'
import { bodyPurpose } from './receive.ts'

/** How many bodies are shown, and how many characters of each. */
export const SHOWN_BODIES = 20
export const SHOWN_CHARACTERS = 4000

/** Opens a body, as much of it as is shown. It is without the secret of its integration. */
export function readBody(seal: SecretBox, { id, body }: Pick<IncomingBody, 'id' | 'body'>): string {
  return seal.open(body, bodyPurpose(id)).slice(0, SHOWN_CHARACTERS)
}
