import type { Context } from '../core/context.ts'
import { isIdOf } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { IncomingBody } from '../generated/prisma/client.ts'
import { bodyPurpose } from './receive.ts'

/** How many characters of a body are shown in a list. */
export const SHOWN_CHARACTERS = 4000

/** Opens a body, in which the secret of its integration is masked. */
export const readBody = (seal: SecretBox, { id, body }: Pick<IncomingBody, 'id' | 'body'>): string =>
  seal.open(body, bodyPurpose(id))

/** Opens the beginning of a body for lists. */
export const shownBody = (seal: SecretBox, row: Pick<IncomingBody, 'id' | 'body'>): string =>
  readBody(seal, row).slice(0, SHOWN_CHARACTERS)

/** Returns a received body of an integration, or null. The caller must own the integration. */
export function findBody({ db }: Pick<Context, 'db'>, integrationId: string, id: string): Promise<IncomingBody | null> {
  return db.incomingBody.findUnique({ where: { id: isIdOf('IncomingBody', id) ? id : '', integrationId } })
}
