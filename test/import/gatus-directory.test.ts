import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { translateGatus } from '../../src/import/gatus.ts'
import { mergeGatusFiles, readGatusDirectory } from '../../src/import/gatus-directory.ts'
import { Unreadable } from '../../src/import/translation.ts'
import { temporaryDirectory } from '../support/scratch.ts'

async function directoryOf(files: Readonly<Record<string, string>>): Promise<string> {
  const { path } = await temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return path
}

/** As Gatus and the import write it. */
const placeholder = ['https://$', '{HOST}'].join('')

const merged = (...texts: string[]) =>
  parse(mergeGatusFiles(texts.map((text, index) => ({ name: `${index}.yaml`, text }))))

describe('a configuration directory of Gatus', () => {
  test('is read with its subdirectories, in the order of their names, as one configuration', async () => {
    const path = await directoryOf({
      'b.yml': 'endpoints: [{ name: b, url: "https://b.example" }]',
      'a/z.yaml': 'x: &defaults { group: core }\nendpoints: [{ <<: *defaults, name: a, url: "PLACEHOLDER" }]'.replace(
        'PLACEHOLDER',
        placeholder,
      ),
      'alerting.yaml': 'alerting: { slack: { webhook-url: "https://hooks.slack.com/services/T/B/x" } }',
      'more.yaml': 'alerting: { ntfy: { topic: ops } }\nendpoints: []',
      'empty.yaml': '\n',
      'notes.txt': 'endpoints: [',
      '..2026_11_28/old.yaml': 'endpoints: [{ name: old, url: "https://old.example" }]',
    })
    await symlink(join(path, 'b.yml'), join(path, 'c.yaml'))
    const text = await readGatusDirectory(path)
    expect(parse(text)).toMatchObject({
      alerting: { slack: {}, ntfy: { topic: 'ops' } },
      endpoints: [{ name: 'a', group: 'core', url: placeholder }, { name: 'b' }, { name: 'b' }],
    })
    const { objects, notes } = translateGatus(text)
    expect([...objects.services.values()].map(({ name }) => name)).toEqual(['a', 'b'])
    expect(notes.map(({ reason }) => reason)).toContain('Another endpoint has this group and name.')
  })

  test('is merged by the rules of Gatus', () => {
    expect(merged('a: { b: { c: 1 }, l: [1] }', 'a: { b: { d: 2 }, l: [2, 1] }', 'a:\ne: 3')).toEqual({
      a: { b: { c: 1, d: 2 }, l: [1, 2, 1] },
      e: 3,
    })
    expect(() => merged('a: { b: 1 }', 'a: { b: 1 }')).toThrow('1.yaml: a.b is set in another file too')
    expect(() => merged('a: { b: [1] }', 'a: { b: 1 }')).toThrow(Unreadable)
    expect(() => merged('a: 1', 'b: [')).toThrow(/^1\.yaml: Cannot read this YAML/)
    expect(() => merged('a: 1', '- 1')).toThrow('1.yaml: it is set')
    expect(merged('"__proto__": { a: 1 }', '"__proto__": { b: 2 }')).toEqual(
      Object.fromEntries([['__proto__', { a: 1, b: 2 }]]),
    )
  })

  test('without such files is refused', async () => {
    await expect(readGatusDirectory(await directoryOf({ 'a.txt': 'x' }))).rejects.toThrow('no files that end in')
    const long = 'x'.repeat(1_100_000)
    await expect(readGatusDirectory(await directoryOf({ 'a.yaml': `a: ${long}` }))).rejects.toThrow('larger than 1 MB')
    const many = { 'a.yaml': `# ${long}${long}`, 'b.yaml': `# ${long}${long}` }
    await expect(readGatusDirectory(await directoryOf(many))).rejects.toThrow('larger than 4 MB')
  })
})
