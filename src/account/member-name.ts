/** The names that references to other objects have in inputs of operations, by their names in files. */
export const inputNames: Readonly<Record<string, string>> = {
  group: 'groupId',
  service: 'serviceId',
  services: 'serviceIds',
  monitors: 'monitorIds',
  dependsOn: 'dependsOnIds',
}
const memberNames = new Map(Object.entries(inputNames).map(([member, input]) => [input, member]))

/** Returns the name in files of a member of an input. */
export const memberName = (input: string): string => memberNames.get(input) ?? input
