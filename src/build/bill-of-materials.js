import { createHash } from 'node:crypto'

/**
 * Writes a bill of materials in CycloneDX 1.6 (ECMA-424): the packages of which the service contains something, and
 * those that are installed beside it. The same input gives the same bytes, so it has no time, and its serial number is
 * a hash of its content.
 * @param {object} input
 * @param {{ name: string, version: string, license: string, dependencies: Record<string, string> }} input.manifest
 * @param {readonly import('./licences.js').Package[]} input.contained
 * @param {readonly Omit<import('./licences.js').Package, 'texts'>[]} input.separate
 * @param {Record<string, { integrity?: string }>} input.locked the packages of `package-lock.json`.
 */
export function billOfMaterials({ manifest, contained, separate, locked }) {
  const packages = [...contained, ...separate].sort((a, b) => (a.folder < b.folder ? -1 : 1))
  const folders = new Set(packages.map(({ folder }) => folder))
  const root = purlOf(manifest)
  const components = packages.map((each) => ({
    type: 'library',
    'bom-ref': each.folder,
    ...nameOf(each.name),
    version: each.version,
    scope: 'required',
    ...hashesOf(locked[each.folder]?.integrity),
    licenses: licencesOf(each.licence),
    purl: purlOf(each),
    ...(each.source !== '' && { externalReferences: [{ type: 'vcs', url: each.source }] }),
    properties: [{ name: 'allclear:part', value: contained.some((one) => one === each) ? 'contained' : 'dependency' }],
  }))
  const dependencies = [
    {
      ref: root,
      dependsOn: Object.keys(manifest.dependencies)
        .flatMap((name) => find('', name, folders))
        .sort(),
    },
    ...packages.map(({ folder, needs }) => ({
      ref: folder,
      dependsOn: [...new Set(needs.flatMap((name) => find(`${folder}/`, name, folders)))].sort(),
    })),
  ]
  const content = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root,
        name: manifest.name,
        version: manifest.version,
        licenses: licencesOf(manifest.license),
        purl: root,
      },
    },
    components,
    dependencies,
  }
  const head = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialOf(JSON.stringify(content)),
    version: 1,
  }
  return `${JSON.stringify({ $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json', ...head, ...content }, null, 2)}\n`
}

/** Returns the folder of the package that a package means by a name, if it is among these. */
function find(/** @type {string} */ from, /** @type {string} */ name, /** @type {Set<string>} */ folders) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/')))) {
    if (folders.has(`${at}node_modules/${name}`)) return [`${at}node_modules/${name}`]
    if (at === '') return []
  }
}

/** A package URL of npm (purl-spec). */
function purlOf(/** @type {{ name: string, version: string }} */ { name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function nameOf(/** @type {string} */ name) {
  const [group, rest] = name.split('/')
  return rest === undefined ? { name } : { group, name: rest }
}

/** A hash of the published package, as npm's lock file has it: `sha512-` and Base64. */
function hashesOf(/** @type {string | undefined} */ integrity) {
  const digest = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1]
  if (digest === undefined) return {}
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
}

function licencesOf(/** @type {string} */ licence) {
  if (/ (AND|OR) /.test(licence)) return [{ expression: licence }]
  return [{ license: /^SEE /.test(licence) ? { name: licence } : { id: licence } }]
}

/** A UUID of version 8 (RFC 9562) from a hash. */
function serialOf(/** @type {string} */ content) {
  const hex = createHash('sha256').update(content).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return `urn:uuid:${parts.join('-')}`
}
