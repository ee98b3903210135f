// @slow
import { afterAll, expect, test } from 'vitest'
import { closeYamlProcess, readYamlText } from '../../src/configuration/yaml-process.ts'

afterAll(closeYamlProcess)

test('a file that needs more memory than its process has is refused, and the next one is read', async () => {
  const hostile = readYamlText(`a: [${'{},'.repeat(330_000)}]`, 'hostile')
  const other = readYamlText('a: 1', 'other')
  // A busy machine reaches the limit of the time first.
  const message = expect.stringMatching(/^takes too (much memory|long) to read$/)
  await expect(hostile).rejects.toMatchObject({ issues: [{ message }] })
  expect(await other).toMatchObject({ value: { a: 1 } })
})
