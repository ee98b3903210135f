import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect, onTestFinished, test } from 'vitest'
import { billOfMaterials } from '../../src/build/bill-of-materials.js'
import { describePackage, readPackage } from '../../src/build/licences.js'
import { noticesOf } from '../../src/build/notices.js'
import { separateDependencies, shippedPackages } from '../../src/build/packages.js'
import '../support/built.ts'
import { temporaryDirectory } from '../support/scratch.ts'

const read = (path: string) => readFile(path, 'utf8')
const manifest = JSON.parse(await read('package.json'))
const shipped = shippedPackages(JSON.parse(await read('dist/contents.json')))
const notices = await read('dist/THIRD-PARTY-NOTICES')
const materials = await read('dist/sbom.cdx.json')

test.each(shipped)('the notices have the licence of %s', async (folder) => {
  const { name, version, texts } = readPackage(folder)
  expect(notices).toContain(`\n${name} ${version} (`)
  expect(texts.length).toBeGreaterThan(0)
  for (const text of texts) {
    expect(text).toMatch(/permission|licen[cs]e|copyright/i)
    expect(notices).toContain(text)
  }
})

test('the notices name the source of the package whose licence asks for it', () => {
  expect(notices).toContain('@resvg/resvg-wasm 2.6.2 (MPL-2.0) https://github.com/yisibl/resvg-js')
  expect(notices).toContain('Mozilla Public License')
})

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryDirectory()
  onTestFinished(folder.remove)
  await mkdir(folder.path, { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
  return folder.path
}

const described = (license: unknown) => JSON.stringify({ name: 'new', version: '1.0.0', license })

test.each([
  [
    'without the text of its licence',
    { 'package.json': described('MIT'), 'README.md': '# New\n\nA library.' },
    'no text',
  ],
  ['with an empty one', { 'package.json': described('MIT'), LICENSE: ' \n' }, 'no text'],
  ['under a licence that nobody has read', { 'package.json': described('AGPL-3.0'), LICENSE: 'Text' }, 'AGPL-3.0'],
  ['under the licence of an exception', { 'package.json': described('MPL-2.0'), LICENSE: 'Text' }, 'MPL-2.0'],
  ['without a licence', { 'package.json': described(undefined), LICENSE: 'Text' }, 'undefined'],
])('refuses a package %s', async (_, files, reason) => {
  const folder = await folderWith(files as Record<string, string>)
  expect(() => readPackage(folder)).toThrow(reason)
})

test('finds a licence in the file of that name or in the readme', async () => {
  const readme = '# New\n\n## License\n\nCopyright (c) 2026 A. B.\n\nPermission is hereby granted …'
  const inReadme = readPackage(await folderWith({ 'package.json': described('MIT'), 'README.md': readme }))
  expect(inReadme.texts).toEqual(['Copyright (c) 2026 A. B.\n\nPermission is hereby granted …'])
  const files = { 'package.json': described('MIT'), 'LICENCE.md': 'A\r\nB', NOTICE: 'C', 'README.md': readme }
  expect(readPackage(await folderWith(files)).texts).toEqual(['A\nB', 'C'])
})

test('the bill of materials is valid CycloneDX 1.6', async () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  expect(await validator.validate(materials)).toBeNull()
  expect(await validator.validate(materials.replace('"CycloneDX"', '"Other"'))).not.toBeNull()
})

test('the bill of materials has what the service contains and what is installed beside it, with their dependencies', () => {
  const { components, dependencies } = JSON.parse(materials)
  const refs: string[] = components.map((each: { 'bom-ref': string }) => each['bom-ref'])
  const separate = Object.keys(separateDependencies(manifest.dependencies, shipped))
  expect(refs).toEqual([...shipped, ...separate.map((name) => `node_modules/${name}`)].sort())
  for (const each of components) expect(each.hashes?.[0].content, each.name).toMatch(/^[\da-f]{128}$/)
  const yoga = dependencies.find(({ ref }: { ref: string }) => ref === 'node_modules/graphql-yoga')
  expect(yoga.dependsOn).toContain('node_modules/graphql-yoga/node_modules/lru-cache')
  expect(yoga.dependsOn).toContain('node_modules/graphql')
})

test('both are the same bytes in every build', async () => {
  const contained = shipped.map(readPackage)
  const { packages: locked } = JSON.parse(await read('package-lock.json'))
  const names = Object.keys(separateDependencies(manifest.dependencies, shipped))
  expect(locked['']).toMatchObject({ name: manifest.name, version: manifest.version, license: manifest.license })
  const separate = names.map((name) => describePackage(`node_modules/${name}`))
  expect(noticesOf(contained)).toBe(notices)
  expect(billOfMaterials({ manifest, contained, separate, locked })).toBe(materials)
})
