// @slow
import { afterAll, expect, test } from 'vitest'
import { closeImportProcess, translateInProcess } from '../../src/import/import-process.ts'
import { Unreadable } from '../../src/import/translation.ts'

afterAll(closeImportProcess)

test('a file that needs more memory than its process has is refused, and the next one is read', async () => {
  const kuma = { source: 'uptime-kuma', name: '' } as const
  const hostile = translateInProcess(kuma, Buffer.from(`[${'{},'.repeat(6_600_000)}1]`), 'hostile')
  // A busy machine reaches the limit of the time first.
  const refused = await hostile.catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Unreadable)
  expect(String(refused)).toMatch(/This takes too (much memory|long) to read\.$/)
  const file = Buffer.from('endpoints: [{name: Web, url: "https://a.example"}]')
  const { objects } = await translateInProcess({ source: 'gatus', name: '' }, file, 'other')
  expect([...objects.monitors.values()]).toMatchObject([{ name: 'Web' }])
})
