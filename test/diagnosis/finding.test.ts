import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { FindingCode } from '../../src/diagnosis/finding.ts'
import { findingCodes, found, worstFirst } from '../../src/diagnosis/finding.ts'

/** Placeholder facts for every sentence. */
const facts = new Proxy({}, { get: (_, name) => (name === 'part' ? 'probing' : `(${String(name)})`) })
const written = (code: FindingCode) => found<'SERVICE_OK'>(code as 'SERVICE_OK', facts as { url: string })

test.each(findingCodes)('%s is one sentence, and problems have a fix', (code) => {
  const { message, severity, fix, subject } = written(code)
  expect(subject).toMatch(/^[a-z]+$/)
  if (code !== 'SETTINGS_INVALID') expect(message).toMatch(/^\S[^\n]+\.$/)
  if (severity === 'ok') expect(fix).toBeNull()
  else expect(fix).toMatch(/^\S[^\n]+$/)
})

test('the documentation lists each code once, with its severity', () => {
  const [, section = ''] = readFileSync('docs/health.md', 'utf8').split('## Examination')
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| (\w+) \|/gm)].map(([, code, severity]) => [code, severity])
  const wrong = findingCodes.filter((code) => written(code).severity !== 'ok')
  expect(rows).toEqual(wrong.map((code) => [code, written(code).severity]))
})

test('sorts the worst first, and keeps the order otherwise', () => {
  const all = [found('WEBSOCKET_OK'), found('MAIL_NOT_SET_UP'), found('BACKUP_FAILING'), found('PROBES_LATE')]
  expect(worstFirst(all).map(({ code }) => code)).toEqual([
    'BACKUP_FAILING',
    'PROBES_LATE',
    'MAIL_NOT_SET_UP',
    'WEBSOCKET_OK',
  ])
})
