// Prints what an installation of the package brings, in CycloneDX, from package-lock.json: without network.
const { execFileSync } = require('node:child_process');
const { name } = require('../package.json');
const { packages } = require('../package-lock.json');

// `--omit dev` (npm 11.19) also omits packages of users that a package for development needs, such as yaml.
const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const sbom = JSON.parse(execFileSync('npm', words, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));

const isInstalled = ({ properties }) =>
  !properties.some((property) => property.name === 'cdx:npm:package:development');
// npm omits a licence whose name is not SPDX's, such as `BSD-0-Clause`, which is `0BSD`.
const withLicence = (component) => {
  const { license } = packages[`node_modules/${component.name}`] ?? {};
  return component.licenses || !license
    ? component
    : { ...component, licenses: [{ license: { name: license } }] };
};
const components = sbom.components.filter(isInstalled).map(withLicence);
const root = sbom.metadata.component['bom-ref'];
const references = new Set([root, ...components.map((component) => component['bom-ref'])]);
const dependencies = sbom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) }));
// npm names the package like the folder of the clone.
const metadata = { ...sbom.metadata, component: { ...sbom.metadata.component, name } };
console.log(JSON.stringify({ ...sbom, metadata, components, dependencies }, null, 2));
