import { readdirSync, readFileSync } from 'node:fs'

/** The licences under which packages may become part of the service. Someone has read them. */
const allowed = [
  '0BSD',
  'Apache-2.0',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT AND OFL-1.1',
  'MIT-0',
  'OFL-1.1',
]

/** Packages under another licence, each for a reason. MPL-2.0 asks for the source of changed files; there are none. */
const exceptions = /** @type {Record<string, string>} */ ({ '@resvg/resvg-wasm': 'MPL-2.0' })

/** The texts in `src/build/licences/` of packages whose authors publish them in their repository only. */
const elsewhere = [
  { names: /^(@graphql-tools\/(executor|utils)|cross-inspect)$/, file: 'graphql-tools.txt' },
  { names: /^@whatwg-node\//, file: 'whatwg-node.txt' },
  { names: /^@resvg\/resvg-wasm$/, file: 'MPL-2.0.txt' },
]

/**
 * @typedef {object} Package
 * @property {string} folder such as `node_modules/graphql`.
 * @property {string} name
 * @property {string} version
 * @property {string} licence an SPDX expression.
 * @property {string} source the address of its repository or home page.
 * @property {string[]} texts its licences and notices.
 * @property {string[]} needs the names of its dependencies.
 */

/**
 * Reads what a package says of itself, and its licence.
 * @param {string} folder
 * @returns {Package}
 * @throws {Error} when it has no text of a licence, or one that nobody has allowed.
 */
export function readPackage(folder) {
  const described = describePackage(folder)
  const { name, version, licence } = described
  const isException = Object.hasOwn(exceptions, name) && exceptions[name] === licence
  if (!allowed.includes(licence) && !isException) {
    throw new Error(`${name} ${version} has the licence ${licence}: read it, then allow it in src/build/licences.js.`)
  }
  const texts = textsOf(folder, name)
  if (texts.length === 0) {
    throw new Error(`${name} ${version} has no text of its licence: add it to src/build/licences.`)
  }
  return { ...described, texts }
}

/**
 * Reads what a package says of itself.
 * @param {string} folder
 * @returns {Omit<Package, 'texts'>}
 */
export function describePackage(folder) {
  const { name, version, license, repository, homepage, dependencies, peerDependencies } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  )
  return {
    folder,
    name,
    version,
    licence: license,
    source: addressOf(repository?.url ?? repository ?? homepage ?? ''),
    needs: Object.keys({ ...dependencies, ...peerDependencies }).sort(),
  }
}

/**
 * @param {string} folder
 * @param {string} name
 */
function textsOf(folder, name) {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map((file) => file.name).sort()
  const read = (/** @type {string} */ file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim()
  const own = names.filter((file) => /^(licen[cs]e|copying|notice|copyright)|-bundle\.js\.licen[cs]e/i.test(file))
  const texts = own.map((file) => read(`${folder}/${file}`)).filter((text) => text !== '')
  if (own.some((file) => /^(licen[cs]e|copying)/i.test(file))) return texts
  const readme = names.find((file) => /^readme/i.test(file))
  const inReadme = readme && /^#+ *licen[cs]e\n([\s\S]*permission[\s\S]*)/im.exec(read(`${folder}/${readme}`))?.[1]
  if (inReadme) return [...texts, inReadme.trim()]
  const { file } = elsewhere.find((each) => each.names.test(name)) ?? {}
  return file ? [...texts, read(`src/build/licences/${file}`)] : []
}

/** Returns the address of a repository that a package names in one of npm's ways. @param {string} text */
function addressOf(text) {
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(text)?.[1]
  if (short) return `https://github.com/${short}`
  return text
    .replace(/^git\+/, '')
    .replace(/^(git|ssh|http):\/\/(git@)?/, 'https://')
    .replace(/^git@([^:]+):/, 'https://$1/')
    .replace(/\.git$/, '')
}
