import { afterAll, describe, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../../../src/account/api-key/api-key.ts'
import { watchRevokedKeys } from '../../../src/account/api-key/revoked-keys.ts'
import type { Actor } from '../../../src/core/context.ts'
import type { Listener } from '../../../src/database/connection/notifications.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { newTenant } from '../../support/log-writers.ts'
import { silent } from '../../support/scratch.ts'

const database = await testDatabase()
const { prisma } = database
const organizationId = await newTenant(prisma)
const actor: Actor = { kind: 'apiKey', keyId: 'key_none', organizationId, scope: 'ADMIN', checkPlan: 'FREE' }
const ctx = testContext(prisma, { actor })

let deaf = false
let hear: Listener = () => {}
const revokedKeys = await watchRevokedKeys({
  database: {
    prisma,
    listen(channel, listener) {
      hear = listener
      return database.listen(channel, (payload) => {
        if (!deaf) listener(payload)
      })
    },
  },
  log: silent,
})
afterAll(() => revokedKeys.close())

async function newKey(): Promise<string> {
  return (await createApiKey(ctx, { name: 'key', scope: 'READ' })).apiKey.id
}

/** Holds a key; resolves when it stops being valid. */
function held(keyId: string): { readonly ended: Promise<string>; readonly release: () => void } {
  let release = () => {}
  const ended = new Promise<string>((resolve) => {
    release = revokedKeys.hold(keyId, () => resolve(keyId))
  })
  return { ended, release }
}

describe('holding a key', () => {
  test('ends all connections of the key when it is revoked, and no others', async () => {
    const [id, other] = [await newKey(), await newKey()]
    let others = 0
    const release = revokedKeys.hold(other, () => others++)
    const both = [held(id), held(id)]
    await revokeApiKey(ctx, id)
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([id, id])
    expect(others).toBe(0)
    release()
  })

  test('does not end connections after its release', async () => {
    const id = await newKey()
    let ends = 0
    const release = revokedKeys.hold(id, () => ends++)
    const { ended } = held(id)
    release()
    release()
    await revokeApiKey(ctx, id)
    await ended
    expect(ends).toBe(0)
  })

  test('ends connections even after a missed notification', async () => {
    const [id, other] = [await newKey(), await newKey()]
    const { ended } = held(id)
    let others = 0
    const release = revokedKeys.hold(other, () => others++)
    deaf = true
    await revokeApiKey(ctx, id)
    deaf = false
    hear(null)
    expect(await ended).toBe(id)
    expect(others).toBe(0)
    release()
  })

  test('ends connections even when notifications stop', async () => {
    const silentKeys = await watchRevokedKeys({
      database: { prisma, listen: async () => async () => {} },
      log: silent,
      pollMs: 10,
    })
    const [id, other] = [await newKey(), await newKey()]
    let others = 0
    silentKeys.hold(other, () => others++)
    const ended = new Promise<void>((resolve) => {
      silentKeys.hold(id, resolve)
    })
    await revokeApiKey(ctx, id)
    await ended
    expect(others).toBe(0)
    await silentKeys.close()
  })
})
