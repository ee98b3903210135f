import { describe, expect, test } from 'vitest'
import {
  createApiKey,
  insertApiKey,
  MAX_ENDED_KEYS,
  MAX_KEYS,
  REVOKED_KEY_NOTIFICATION,
  revokeApiKey,
} from '../../../src/account/api-key/api-key.ts'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import type { Context } from '../../../src/core/context.ts'
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from '../../../src/core/errors.ts'
import { HOUR } from '../../../src/core/time.ts'
import type { Scope } from '../../../src/generated/prisma/enums.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma, pool, listen } = await testDatabase()
const operator = testContext(prisma, { actor: { kind: 'operator' } })

let made = 0

/** A separate organization, with the context of its first key. */
async function tenant() {
  const slug = `tenant-${++made}`
  const { organization, apiKey } = await createOrganization(operator, {
    name: 'Tenant',
    slug,
    contactEmail: 'a@b.example',
  })
  return { organization, ...apiKey, ctx: await holder(apiKey.secret) }
}

async function holder(secret: string): Promise<Context> {
  return testContext(prisma, { actor: await authenticate(operator, secret) })
}

describe('a new key', () => {
  test('is refused while too many work, and replaces the oldest of too many that do not', async () => {
    const { organization, ctx } = await tenant()
    const insert = (name: string, count: number, revoked: boolean) =>
      pool.query(
        `INSERT INTO "ApiKey" (id, "organizationId", name, scope, prefix, hash, "createdAt", "revokedAt")
         SELECT 'key_' || $2 || $1 || each, $1, $2, 'READ', 'ac_', $2 || $1 || each, $3::timestamptz + each * interval '1 s', CASE WHEN $5 THEN now() END
         FROM generate_series(1, $4::int) AS each`,
        [organization.id, name, noon, count, revoked],
      )
    const count = (name: string) => prisma.apiKey.count({ where: { organizationId: organization.id, name } })
    await insert('ended', MAX_ENDED_KEYS + 5, true)
    await insert('works', MAX_KEYS - 2, false)
    await createApiKey(ctx, { name: 'last', scope: 'READ' })
    expect([await count('ended'), await count('works'), await count('last')]).toEqual([
      MAX_ENDED_KEYS - 1,
      MAX_KEYS - 2,
      1,
    ])
    await expect(createApiKey(ctx, { name: 'too many', scope: 'READ' })).rejects.toThrow(Conflict)
    const { rows } = await pool.query(
      `SELECT id FROM "ApiKey" WHERE "organizationId" = $1 AND name = 'ended' ORDER BY "createdAt" LIMIT 1`,
      [organization.id],
    )
    expect(rows[0].id).toBe(`key_ended${organization.id}7`)
  })

  test('works immediately, for its organization and within its scope', async () => {
    const { organization, ctx } = await tenant()
    const { secret, apiKey } = await createApiKey(ctx, { name: 'Deploy', scope: 'WRITE' })
    expect(await authenticate(ctx, secret)).toEqual({
      kind: 'apiKey',
      keyId: apiKey.id,
      organizationId: organization.id,
      scope: 'WRITE',
      checkPlan: 'FREE',
    })
  })

  test('has the documented format and starts with its prefix', async () => {
    const { ctx } = await tenant()
    const { secret, apiKey } = await createApiKey(ctx, { name: 'Deploy', scope: 'READ' })
    expect(secret).toMatch(/^ac_[0-9a-v]{40}$/)
    expect(secret.startsWith(apiKey.prefix)).toBe(true)
    expect(apiKey.prefix).toHaveLength(11)
  })

  test('is rejected with the path of each problem', async () => {
    const { ctx } = await tenant()
    const wrong = createApiKey(ctx, { name: '  ', scope: 'ROOT' })
    await expect(wrong).rejects.toThrow(Invalid)
    await expect(wrong).rejects.toMatchObject({ issues: [{ path: ['name'] }, { path: ['scope'] }] })
    await expect(createApiKey(ctx, { name: 'a\u0000b', scope: 'READ' })).rejects.toMatchObject({
      issues: [{ path: ['name'] }],
    })
    await expect(createApiKey(ctx, { name: 'Old', scope: 'READ', expiresAt: noon })).rejects.toMatchObject({
      issues: [{ path: ['expiresAt'], message: 'must be in the future' }],
    })
  })

  test.each<[Scope]>([['READ'], ['WRITE']])('cannot be created with a key of scope %s', async (scope) => {
    const { ctx } = await tenant()
    const { secret } = await createApiKey(ctx, { name: 'Small', scope })
    const small = await holder(secret)
    await expect(createApiKey(small, { name: 'Big', scope: 'ADMIN' })).rejects.toThrow(Forbidden)
  })

  test('cannot be created by a visitor, or by the operator without an organization', async () => {
    const visitor = testContext(prisma, { actor: { kind: 'visitor' } })
    await expect(createApiKey(visitor, { name: 'Mine', scope: 'READ' })).rejects.toThrow(Unauthenticated)
    await expect(createApiKey(operator, { name: 'Mine', scope: 'READ' })).rejects.toThrow(Unauthenticated)
  })
})

describe('the stored key', () => {
  test('is a hash; the secret is nowhere in the database', async () => {
    const { ctx, secret } = await tenant()
    const second = await createApiKey(ctx, { name: 'Second', scope: 'READ' })
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    )
    let everything = ''
    for (const { name } of tables) everything += JSON.stringify((await pool.query(`SELECT * FROM ${name}`)).rows)
    expect(everything).toContain(second.apiKey.id)
    for (const text of [secret, second.secret]) {
      expect(everything).not.toContain(text)
      expect(everything).not.toContain(text.slice(11))
    }
  })

  test('has the time of its last use, to the minute', async () => {
    const { secret, apiKey } = await tenant()
    const at = async (now: Date) => {
      await authenticate(testContext(prisma, { now: () => now }), secret)
      return expect.poll(async () => (await prisma.apiKey.findUniqueOrThrow({ where: { id: apiKey.id } })).lastUsedAt)
    }
    await (await at(noon)).toEqual(noon)
    await (await at(new Date(noon.getTime() + 59_000))).toEqual(noon)
    const later = new Date(noon.getTime() + 60_000)
    await (await at(later)).toEqual(later)
  })
})

describe('an invalid key', () => {
  const refused = (secret: string, now = noon) =>
    expect(authenticate(testContext(prisma, { now: () => now }), secret)).rejects.toMatchObject({
      constructor: Unauthenticated,
      code: 'INVALID_API_KEY',
    })

  test.each([
    ['empty', ''],
    ['unknown', 'ac_0123456789abcdef0123456789abcdef01234567'],
    ['the bare prefix', 'ac_'],
    ['ten thousand characters long', `ac_${'x'.repeat(10_000)}`],
    ['a key with a NUL', 'ac_\u0000'],
    ['not ASCII', 'ac_ключ'],
    ['SQL', `ac_' OR '1'='1`],
  ])('is rejected when it is %s', (_, secret) => refused(secret))

  test('is rejected once it has expired', async () => {
    const { ctx } = await tenant()
    const expiresAt = new Date(noon.getTime() + HOUR)
    const { secret } = await createApiKey(ctx, { name: 'Guest', scope: 'READ', expiresAt })
    const justBefore = testContext(prisma, { now: () => new Date(expiresAt.getTime() - 1) })
    expect(await authenticate(justBefore, secret)).toMatchObject({ kind: 'apiKey' })
    await refused(secret, expiresAt)
  })

  test('is rejected once revoked; revoking it again changes nothing', async () => {
    const { ctx } = await tenant()
    const { secret, apiKey } = await createApiKey(ctx, { name: 'Lost', scope: 'READ' })
    const { revokedAt } = await revokeApiKey(ctx, apiKey.id)
    expect(revokedAt).toEqual(noon)
    await refused(secret)
    const later = { ...ctx, now: () => new Date(noon.getTime() + HOUR) }
    expect((await revokeApiKey(later, apiKey.id)).revokedAt).toEqual(noon)
  })

  test('is rejected when its organization is deleted', async () => {
    const { organization, secret } = await tenant()
    await prisma.organization.delete({ where: { id: organization.id } })
    await refused(secret)
  })
})

describe('revoking', () => {
  test('treats another tenant’s key as unknown', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    await expect(revokeApiKey(mine.ctx, theirs.apiKey.id)).rejects.toThrow(NotFound)
    await expect(authenticate(operator, theirs.secret)).resolves.toMatchObject({ kind: 'apiKey' })
  })

  test.each(['', 'key_', 'nonsense', 'key_\u0000', `key_${'0'.repeat(100_000)}`])(
    'an id that no key can have (%#) gets the same answer as an unknown one',
    async (id) => {
      const { ctx } = await tenant()
      await expect(revokeApiKey(ctx, id)).rejects.toThrow(NotFound)
    },
  )

  test('is announced once, in the log and to every process', async () => {
    const { ctx, organization } = await tenant()
    const { apiKey } = await createApiKey(ctx, { name: 'Lost', scope: 'READ' })
    const heard: (string | null)[] = []
    const stop = await listen(REVOKED_KEY_NOTIFICATION, (payload) => heard.push(payload))
    await Promise.all(Array.from({ length: 4 }, () => revokeApiKey(ctx, apiKey.id)))
    await expect.poll(() => heard).toEqual([apiKey.id])
    await stop()
    const events = await prisma.event.findMany({ where: { organizationId: organization.id }, orderBy: { seq: 'asc' } })
    expect(events.slice(2)).toMatchObject(
      (['API_KEY_CREATED', 'API_KEY_REVOKED'] as const).map((kind) => ({
        kind,
        actorKind: 'API_KEY',
        actorKeyId: ctx.actor.kind === 'apiKey' && ctx.actor.keyId,
        subjectId: apiKey.id,
        subjectName: 'Lost',
      })),
    )
  })

  test('requires a key with scope ADMIN', async () => {
    const { ctx, apiKey } = await tenant()
    const { secret } = await createApiKey(ctx, { name: 'Writer', scope: 'WRITE' })
    await expect(revokeApiKey(await holder(secret), apiKey.id)).rejects.toThrow(Forbidden)
  })
})

test('two keys never share a hash', async () => {
  const { organization } = await tenant()
  const key = { organizationId: organization.id, name: 'Key', scope: 'READ', expiresAt: null, createdAt: noon } as const
  const { apiKey } = await insertApiKey({ db: prisma, actor: { kind: 'operator' } }, key)
  const { id: _, ...copy } = apiKey
  await expect(prisma.apiKey.create({ data: { ...copy, id: 'key_copy' } })).rejects.toThrow()
})

describe('the last key with scope ADMIN', () => {
  test('cannot revoke itself unless confirmed', async () => {
    const { apiKey, ctx } = await tenant()
    await expect(revokeApiKey(ctx, apiKey.id)).rejects.toThrow(Conflict)
    await createApiKey(ctx, { name: 'Reads', scope: 'WRITE' })
    const ended = await createApiKey(ctx, { name: 'Ends', scope: 'ADMIN', expiresAt: new Date(noon.getTime() + HOUR) })
    const later = { ...ctx, now: () => new Date(noon.getTime() + HOUR) }
    await expect(revokeApiKey(later, apiKey.id)).rejects.toThrow(Conflict)
    expect((await revokeApiKey(later, ended.apiKey.id)).revokedAt).toEqual(later.now())
    expect((await revokeApiKey(ctx, apiKey.id, { force: true })).revokedAt).toEqual(noon)
  })

  test('can be revoked while there is another, and by the operator', async () => {
    const { apiKey, ctx, organization } = await tenant()
    const { apiKey: other } = await createApiKey(ctx, { name: 'Other', scope: 'ADMIN' })
    await revokeApiKey(ctx, apiKey.id)
    const acting = testContext(prisma, { actor: { kind: 'operator', organizationId: organization.id } })
    expect((await revokeApiKey(acting, other.id)).revokedAt).toEqual(noon)
  })

  test('remains when two keys revoke each other concurrently', async () => {
    const { apiKey, ctx } = await tenant()
    const { apiKey: other, secret } = await createApiKey(ctx, { name: 'Other', scope: 'ADMIN' })
    const theirs = await holder(secret)
    const ends = await Promise.allSettled([revokeApiKey(ctx, other.id), revokeApiKey(theirs, apiKey.id)])
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
