import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { fileOf, sections } from '../../src/docs/contents.ts'
import { renderGuide } from '../../src/docs/guide.ts'
import { documentation } from '../support/guides.ts'

const slugs = sections.flatMap((section) => section.slugs)

const headingsByFile = new Map<string, readonly string[]>()

/** Returns the ids of a file’s headings. */
function headingsOf(file: string): readonly string[] {
  const known = headingsByFile.get(file)
  if (known !== undefined) return known
  const { headings } = renderGuide(posix.basename(file, '.md'), readFileSync(file, 'utf8'))
  const ids = headings.map(({ id }) => id)
  headingsByFile.set(file, ids)
  return ids
}

test('every link in the files leads to an existing file and heading', () => {
  for (const [file, text] of documentation()) {
    for (const [, address = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https:|mailto:|\/)/.test(address)) continue
      const [path = '', heading] = address.split('#')
      const target = path === '' ? file : posix.join(posix.dirname(file), path)
      expect(existsSync(target), `${file}: ${address}`).toBe(true)
      if (heading === undefined || (file === 'README.md' && path === '')) continue
      expect(headingsOf(target), `${file}: ${address}`).toContain(heading)
    }
  }
})

test('every guide is in the contents, and every entry has a file', () => {
  const files = [...documentation().keys()].filter((file) => file !== 'README.md')
  expect(slugs.map(fileOf).toSorted()).toEqual(files.toSorted())
})

test('the README links every guide', () => {
  const readme = readFileSync('README.md', 'utf8')
  expect(slugs.filter((slug) => !readme.includes(`](${fileOf(slug)}`))).toEqual([])
})

test('the README is short, with small images', () => {
  const readme = readFileSync('README.md')
  expect(readme.length).toBeLessThanOrEqual(8 * 1024)
  const pictures = [...readme.toString().matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path = '']) => path)
  expect(pictures.length).toBeGreaterThanOrEqual(2)
  for (const path of pictures) expect(readFileSync(path).length, path).toBeLessThanOrEqual(150_000)
})

test('every room of more than a dozen files has a README', () => {
  const rooms = readdirSync('src', { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'generated',
  )
  const withoutReadme = rooms.filter(({ name }) => {
    const sources = readdirSync(`src/${name}`, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    )
    return sources.length > 12 && !existsSync(`src/${name}/README.md`)
  })
  expect(withoutReadme.map(({ name }) => name)).toEqual([])
})
