// Steps the golden scenes in node: `node run.mjs LIBRARY.wasm [SET…]`. The hashes and the names come from the library.
// Exits with 1 if a hash differs, or if the library's instruction sets are not the ones named.

import { readFileSync } from 'node:fs';

const [library, ...wanted] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(library), {});
const engine = instance.exports;

const text = (start, length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, start, length));
const hex = (hash) => '0x' + BigInt.asUintN(64, hash).toString(16).padStart(16, '0');

const sets = Array.from({ length: engine.sets() }, (_, set) => text(engine.set_name(set), engine.set_name_length(set)));
if (wanted.length > 0 && sets.join() !== wanted.join()) {
    console.log(`FAILED: the library has the sets ${sets.join(', ')}, not ${wanted.join(', ')}`);
    process.exit(1);
}
let failures = 0;
for (let scene = 0; scene < engine.scenes(); scene++) {
    const name = text(engine.scene_name(scene), engine.scene_name_length(scene));
    const expected = hex(engine.expected_hash(scene));
    sets.forEach((isa, set) => {
        const hash = hex(engine.state_hash(scene, set));
        if (hash !== expected) {
            console.log(`FAILED: ${name} with ${isa}: ${hash}, not ${expected}`);
            failures += 1;
        }
    });
}
if (engine.scenes() === 0 || sets.length === 0) {
    console.log('FAILED: the library has no scene or no set');
    failures += 1;
}
console.log(`wasm32: ${engine.scenes()} scenes with ${sets.join(' and ')}: ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
