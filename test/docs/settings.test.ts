import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingNames } from '../../src/core/config.ts'
import { SETTINGS_MARK, settingsTables } from '../../src/docs/settings.ts'

const tables = settingsTables()

test('every setting is documented once', () => {
  const rows = [...tables.matchAll(/^\| `([A-Z_]+)` \| (.+) \| (.+) \|$/gm)].map(([, name = '']) => name)
  expect(rows.toSorted()).toEqual(settingNames.toSorted())
})

test('docs/settings.md matches the code (npm run settings)', () => {
  const [, written = ''] = readFileSync('docs/settings.md', 'utf8').split(SETTINGS_MARK)
  expect(written.trim()).toBe(tables.trim())
})

test('defaults match the code', () => {
  expect(tables).toContain('| `PORT` | `4000` |')
  expect(tables).toContain('| `SIGNUP` | `closed` |')
  expect(tables).toContain('| `SMTP_URL` | none |')
})
