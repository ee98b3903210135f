import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostileCase } from './case.ts'
import { asMember, form, upload } from './console.ts'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')

const import_ = (name: string, from: string, content: Buffer | string, statuses: readonly number[] = [422]) =>
  asMember(`a file to import: ${name}`, statuses, `import?from=${from}`, upload('file', Buffer.from(content)))

const depth = 2_000_000
const monitors = (count: number) =>
  JSON.stringify({
    monitorList: Array.from({ length: count }, (_, id) => ({ id, name: 'a', type: 'http', url: 'x:' })),
  })
const aliases = Array.from({ length: 30 }, (_, level) =>
  level === 0 ? 'a0: &a0 [x, x]' : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`,
)

/** A database whose tables go on for ever, and whose columns are large. */
function busyDatabase(): Buffer {
  const path = join(mkdtempSync(join(tmpdir(), 'allclear-hostile-')), 'kuma.db')
  const database = new Database(path)
  database.exec(`CREATE TABLE monitor (id INTEGER, name TEXT, url TEXT AS (zeroblob(900000000)));
    INSERT INTO monitor VALUES (1, 'a');
    CREATE VIEW status_page AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n;`)
  database.close()
  return readFileSync(path)
}

/** Files of other tools that are none. */
export const imports: readonly HostileCase[] = [
  import_('20 MB of brackets', 'uptime-kuma', '['.repeat(19_000_000)),
  import_('20 MB of zeros', 'uptime-kuma', Buffer.alloc(19_000_000)),
  import_('objects in objects', 'statuspage', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  import_('100,000 monitors', 'uptime-kuma', monitors(100_000)),
  import_('10,000 monitors with a wrong address', 'uptime-kuma', monitors(10_000)),
  import_(
    'members of every object',
    'statuspage',
    '{"__proto__":{"a":1},"components":[{"id":"__proto__","group":true}]}',
    [200, 422],
  ),
  import_('30 levels of aliases', 'gatus', `${aliases.join('\n')}\nendpoints: *a29`),
  import_('YAML of 19 MB', 'gatus', 'endpoints:\n'.concat('- {name: a}\n'.repeat(1_500_000))),
  import_('YAML in brackets', 'gatus', `endpoints: ${'['.repeat(1_000_000)}`),
  import_(
    'a database of zeros',
    'uptime-kuma',
    Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(19_000_000)]),
  ),
  import_('a database that makes work', 'uptime-kuma', busyDatabase(), [200]),
  import_('a file of 30 MB', 'gatus', Buffer.alloc(30_000_000), [413]),
  asMember('an import that nobody prepared', [422], 'import/apply', form(`prepared=s1.${'A'.repeat(1_900_000)}`)),
]
