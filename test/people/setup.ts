import { createSecretBox } from '../../src/core/secret-box.ts'
import type { PrismaClient, User } from '../../src/generated/prisma/client.ts'
import type { PeopleContext } from '../../src/people/context.ts'
import type { AccountMail } from '../../src/people/mail.ts'
import { hashPassword } from '../../src/people/password.ts'
import { startSession, userOfSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { testContext } from '../support/context.ts'

export const password = 'correct horse battery'

/** The context of a visitor, and the emails that their requests cause. */
export function peopleContext(
  db: PrismaClient,
  given: Partial<Omit<PeopleContext, 'config'>> & { readonly settings?: NodeJS.ProcessEnv } = {},
): PeopleContext & { readonly mails: AccountMail[] } {
  const mails: AccountMail[] = []
  return {
    ...testContext(db, { actor: { kind: 'visitor' }, ...given }),
    seal: createSecretBox(Buffer.alloc(32, 7)),
    site: { baseUrl: 'https://status.example' },
    sendMail: async (mail) => {
      mails.push(mail)
      return { delivered: true, message: 'Accepted' }
    },
    mails,
  }
}

let people = 0

/** Creates a person. @param withPassword whether it has `password`. */
export async function newUser(ctx: PeopleContext, withPassword = false): Promise<User> {
  const name = `Person ${++people}`
  const passwordHash = withPassword ? await hashPassword(password) : null
  return insertUser(ctx, 'MAILED_SIGN_UP_LINK', { email: `own-${people}@example.com`, name, passwordHash })
}

/** Returns the context of a person in a new session. */
export async function signedIn<C extends PeopleContext>(ctx: C, { id }: Pick<User, 'id'>): Promise<C> {
  const actor = await userOfSession(ctx, await startSession(ctx, id, 'a browser of the tests'))
  if (actor === null) throw new Error('The session does not work.')
  return { ...ctx, actor }
}
