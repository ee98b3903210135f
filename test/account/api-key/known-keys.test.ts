import { afterAll, describe, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../../../src/account/api-key/api-key.ts'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { createKnownKeys } from '../../../src/account/api-key/known-keys.ts'
import { deleteOrganization } from '../../../src/account/organization/deletion.ts'
import { createOrganization, setCheckPlan, updateOrganization } from '../../../src/account/organization/organization.ts'
import type { Listener } from '../../../src/database/connection/notifications.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { statementsOf } from '../../support/statements.ts'

const database = await testDatabase()
const { prisma } = database
const operator = testContext(prisma, { actor: { kind: 'operator' } })

let milliseconds = 0

/** The cache of an instance. */
async function instance(listen = database.listen) {
  const knownKeys = await createKnownKeys({ database: { listen }, clock: () => milliseconds })
  afterAll(() => knownKeys.close())
  return { ...testContext(prisma), knownKeys }
}

/** The cache of an instance whose connection for notifications can go silent. */
async function deafInstance() {
  let hear: Listener = () => {}
  const ctx = await instance(async (_channel, listener) => {
    hear = listener
    return async () => {}
  })
  return { ctx, hear: (payload: string | null) => hear(payload) }
}

let made = 0

/** An organization with a key, which its owner can revoke with another one. */
async function tenant() {
  const slug = `known-${++made}`
  const { organization, apiKey } = await createOrganization(operator, { name: 'A', slug, contactEmail: 'a@b.example' })
  const owner = testContext(prisma, { actor: await authenticate(operator, apiKey.secret) })
  const { secret, apiKey: key } = await createApiKey(owner, { name: 'key', scope: 'WRITE' })
  return { organization, slug, owner, secret, id: key.id }
}

const refused = { code: 'INVALID_API_KEY' }

describe('a known key', () => {
  test('is read with one statement, then with none for two seconds', async () => {
    const { secret } = await tenant()
    const { ctx } = await deafInstance()
    const statements = () => statementsOf(() => authenticate(ctx, secret))
    const reads = (texts: readonly string[]) =>
      texts.filter((text) => text.includes('"hash"') || text.includes('.hash'))
    expect(reads(await statements())).toHaveLength(1)
    milliseconds += 1999
    expect(reads(await statements())).toEqual([])
    milliseconds += 1
    expect(reads(await statements())).toHaveLength(1)
  })

  test('is refused immediately on the instance that revokes it', async () => {
    const { secret, id, owner } = await tenant()
    const { ctx } = await deafInstance()
    await authenticate(ctx, secret)
    await revokeApiKey({ ...owner, knownKeys: ctx.knownKeys }, id)
    await expect(authenticate(ctx, secret)).rejects.toMatchObject(refused)
  })

  test('is refused on another instance once that instance is notified', async () => {
    const { secret, id, owner } = await tenant()
    const ctx = await instance()
    await authenticate(ctx, secret)
    await revokeApiKey(owner, id)
    await expect.poll(() => authenticate(ctx, secret).catch(({ code }) => ({ code }))).toEqual(refused)
  })

  test('is refused after two seconds on an instance without notifications', async () => {
    const { secret, id, owner } = await tenant()
    const { ctx } = await deafInstance()
    await authenticate(ctx, secret)
    await revokeApiKey(owner, id)
    await expect(authenticate(ctx, secret)).resolves.toMatchObject({ kind: 'apiKey' })
    milliseconds += 2000
    await expect(authenticate(ctx, secret)).rejects.toMatchObject(refused)
  })

  test('is read again when notifications may have been missed', async () => {
    const { secret, id, owner } = await tenant()
    const { ctx, hear } = await deafInstance()
    await authenticate(ctx, secret)
    await revokeApiKey(owner, id)
    hear(null)
    await expect(authenticate(ctx, secret)).rejects.toMatchObject(refused)
  })

  test('cannot change anything once it is revoked, even on an instance that has not been notified', async () => {
    const { organization, secret, id, owner } = await tenant()
    await prisma.apiKey.update({ where: { id }, data: { scope: 'ADMIN' } })
    const { ctx } = await deafInstance()
    await authenticate(ctx, secret)
    await revokeApiKey(owner, id)
    const late = { ...ctx, actor: await authenticate(ctx, secret) }
    await expect(updateOrganization(late, { name: 'B' })).rejects.toMatchObject(refused)
    expect(await prisma.organization.findUnique({ where: { id: organization.id } })).toMatchObject({ name: 'A' })
  })

  test('is not cached if it is revoked while it is read', async () => {
    const { secret, id } = await tenant()
    const { ctx, hear } = await deafInstance()
    const reading = authenticate(ctx, secret)
    hear(id)
    await reading
    await prisma.apiKey.update({ where: { id }, data: { revokedAt: new Date() } })
    await expect(authenticate(ctx, secret)).rejects.toMatchObject(refused)
  })

  test('is refused immediately when its organization is deleted', async () => {
    const { organization, slug, secret, owner } = await tenant()
    const { ctx } = await deafInstance()
    await authenticate(ctx, secret)
    await deleteOrganization({ ...owner, knownKeys: ctx.knownKeys }, { id: organization.id, slug })
    await expect(authenticate(ctx, secret)).rejects.toMatchObject(refused)
  })

  test('has the new check plan immediately, and on another instance once that instance is notified', async () => {
    const { organization, secret } = await tenant()
    const [here, there] = [await deafInstance(), await instance()]
    const planOn = async (ctx: typeof there) => (await authenticate(ctx, secret)) as { checkPlan?: string }
    expect([(await planOn(here.ctx)).checkPlan, (await planOn(there)).checkPlan]).toEqual(['FREE', 'FREE'])
    const plan = { organizationId: organization.id, plan: 'PRO' }
    await setCheckPlan({ ...operator, knownKeys: here.ctx.knownKeys }, plan)
    expect(await planOn(here.ctx)).toMatchObject({ checkPlan: 'PRO' })
    await expect.poll(async () => (await planOn(there)).checkPlan).toBe('PRO')
  })
})
