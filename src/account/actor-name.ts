import type { Context } from '../core/context.ts'

/** Returns the name of the actor: a person, an API key or the operator. */
export async function actorName({ db, actor }: Pick<Context, 'db' | 'actor'>): Promise<string> {
  const userId = 'userId' in actor ? actor.userId : undefined
  if (userId !== undefined) return (await db.user.findUniqueOrThrow({ where: { id: userId } })).name
  if (actor.kind !== 'apiKey') return 'the operator'
  const key = await db.apiKey.findUniqueOrThrow({ where: { id: actor.keyId }, select: { name: true } })
  return `API key ${key.name}`
}

/** Returns the id of the person who acts, or who created the key that acts; null: the operator’s token, or unknown. */
export async function personBehind({ db, actor }: Pick<Context, 'db' | 'actor'>): Promise<string | null> {
  if ('userId' in actor) return actor.userId ?? null
  if (actor.kind !== 'apiKey') return null
  const key = await db.apiKey.findUnique({ where: { id: actor.keyId }, select: { createdById: true } })
  return key?.createdById ?? null
}

/** The actor of a change, as stored in its row. */
export interface RecordedActor {
  readonly actorUserId: string | null
  readonly actorKeyId: string | null
}

/** Returns the name of the person or the API key that acted; null: it was neither, or it no longer exists. */
export async function recordedActorName(
  { db }: Pick<Context, 'db'>,
  { actorUserId, actorKeyId }: RecordedActor,
): Promise<string | null> {
  const select = { name: true } as const
  if (actorUserId !== null) return (await db.user.findUnique({ where: { id: actorUserId }, select }))?.name ?? null
  if (actorKeyId === null) return null
  return (await db.apiKey.findUnique({ where: { id: actorKeyId }, select }))?.name ?? null
}

/** Returns the names of the people and API keys that acted in an organization, by id. Runs two statements. */
export async function recordedActorNames(
  { db }: Pick<Context, 'db'>,
  organizationId: string,
  actors: readonly RecordedActor[],
): Promise<ReadonlyMap<string, string>> {
  const keyIds = new Set(actors.flatMap(({ actorKeyId }) => actorKeyId ?? []))
  const userIds = new Set(actors.flatMap(({ actorUserId }) => actorUserId ?? []))
  const select = { id: true, name: true } as const
  const [keys, people] = await Promise.all([
    db.apiKey.findMany({ where: { organizationId, id: { in: [...keyIds] } }, select }),
    db.user.findMany({ where: { id: { in: [...userIds] } }, select }),
  ])
  return new Map([...keys, ...people].map(({ id, name }) => [id, name]))
}
