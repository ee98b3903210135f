import type { Context } from '../core/context.ts'

/** Returns who acts, in words: the name of the person or of the API key. */
export async function actorName({ db, actor }: Pick<Context, 'db' | 'actor'>): Promise<string> {
  const userId = 'userId' in actor ? actor.userId : undefined
  if (userId !== undefined) return (await db.user.findUniqueOrThrow({ where: { id: userId } })).name
  if (actor.kind !== 'apiKey') return 'the operator'
  const key = await db.apiKey.findUniqueOrThrow({ where: { id: actor.keyId }, select: { name: true } })
  return `API key ${key.name}`
}
