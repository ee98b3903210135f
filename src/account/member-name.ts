/** The input fields that refer to other objects, by their names in files. */
export const inputNames: Readonly<Record<string, string>> = {
  group: 'groupId',
  service: 'serviceId',
  services: 'serviceIds',
  monitors: 'monitorIds',
  dependsOn: 'dependsOnIds',
}
const memberNames = new Map(Object.entries(inputNames).map(([member, input]) => [input, member]))

/** Returns the name that an input field has in files. */
export const memberName = (input: string): string => memberNames.get(input) ?? input
