/**
 * Writes the notices of the packages that are part of the service: what each is, where its source is, and the texts of
 * its licence. Texts that several packages share word for word are written once.
 * @param {readonly import('./licences.js').Package[]} packages
 */
export function noticesOf(packages) {
  /** @type {Map<string, string[]>} */
  const byText = new Map()
  for (const each of packages) {
    const text = each.texts.join('\n\n')
    byText.set(text, [...(byText.get(text) ?? []), `${each.name} ${each.version} (${each.licence}) ${each.source}`])
  }
  const sections = Array.from(byText, ([text, names]) => `${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}\n`)
  return `Allclear contains code or files of these ${packages.length} packages, unchanged except that they are bundled.\n\n${sections.join('\n')}`
}
