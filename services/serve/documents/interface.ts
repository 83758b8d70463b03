/** The version of the interface, which is not the program's. */
export const INTERFACE_VERSION = '2.1.0'

export const LICENSE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
