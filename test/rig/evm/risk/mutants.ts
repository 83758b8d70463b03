/** Solidity tokens that harm their buyers, each in a random way: now, later, or whenever somebody wants. */
import type { Random } from '../../market/random.js'

type Trap = (
  names: { f: string; g: string },
  random: Random,
) => { state?: string; code?: string; check?: string; tax?: string }

const TRAPS: Record<string, Trap> = {
  switch: ({ f }) => ({
    state: 'bool private on;',
    code: `function ${f}(bool value) external onlyBoss { on = value; }`,
    check: 'require(!on || from == boss() || to == boss());',
  }),
  toggle: ({ f }) => ({
    state: 'uint256 private level;',
    code: `function ${f}() external onlyBoss { level ^= 1; }`,
    check: 'require(level == 0 || from == boss());',
  }),
  block: ({ f }) => ({
    state: 'mapping(address => bool) private marked;',
    code: `function ${f}(address account, bool value) external onlyBoss { marked[account] = value; }`,
    check: 'require(!marked[from]);',
  }),
  taxLater: ({ f }) => ({
    state: 'uint256 private part;',
    code: `function ${f}(uint256 value) external onlyBoss { part = value; }`,
    tax: 'part',
  }),
  taxNow: (_, random) => ({ tax: String(random.int(2, 60)) }),
  timeBomb: (_, random) => ({
    check: `require(block.timestamp < ${2_000_000_000 + random.int(0, 1_000_000)} || from == boss());`,
  }),
  blockBomb: (_, random) => ({
    check: `require(block.number < ${random.int(1_000_000, 9_000_000)} || from == boss());`,
  }),
  counter: (_, random) => ({
    state: 'uint256 private moves;',
    check: `moves++; require(moves < ${random.int(50, 5000)} || from == boss());`,
  }),
  asks: ({ f }) => ({
    state: 'address private judge;',
    code: `function ${f}(address value) external onlyBoss { judge = value; }`,
    check: 'if (judge != address(0)) require(IJudge(judge).ok(from, to));',
  }),
  honeypot: () => ({ check: 'require(to.code.length == 0 || from == boss());' }),
  mint: ({ f }) => ({ code: `function ${f}(address to, uint256 value) external onlyBoss { balanceOf[to] += value; }` }),
  seize: ({ f }) => ({
    code: `function ${f}(address from, uint256 value) external onlyBoss { balanceOf[from] -= value; balanceOf[boss()] += value; }`,
  }),
  disguisedSetter: () => ({
    state: 'uint256 private level;',
    code: 'function increaseAllowance(address, uint256 value) external onlyBoss returns (bool) { level = value; return true; }',
    check: 'require(level == 0 || from == boss());',
  }),
  disguisedBurn: () => ({
    state: 'uint256 private level;',
    code: 'function burn(uint256 value) external onlyBoss { level = value; }',
    check: 'require(level == 0 || from == boss());',
  }),
  fallbackSetter: () => ({
    state: 'bool private on;',
    code: 'fallback() external onlyBoss { on = !on; }',
    check: 'require(!on || from == boss());',
  }),
  delegate: ({ f }) => ({
    code: `function ${f}(address to, bytes calldata data) external onlyBoss { (bool ok, ) = to.delegatecall(data); require(ok); }`,
  }),
  destroy: ({ f }) => ({ code: `function ${f}() external onlyBoss { selfdestruct(payable(msg.sender)); }` }),
  gasPrice: () => ({ check: 'require(tx.gasprice == 0 || from == boss());' }),
  origin: () => ({ check: 'require(tx.origin != from || from == boss() || to.code.length == 0);' }),
  anySlot: ({ f }) => ({
    code: `function ${f}(uint256 slot, uint256 value) external onlyBoss { assembly { sstore(slot, value) } }`,
  }),
  nested: ({ f, g }) => ({
    state: 'struct Rules { uint128 a; uint128 b; } mapping(uint256 => Rules) private rules;',
    code: `function ${f}(uint128 value) external onlyBoss { ${g}(value); } function ${g}(uint128 value) private { rules[7].b = value; }`,
    check: 'require(rules[7].b == 0 || from == boss());',
  }),
}

const BOSSES = [
  'address private immutable chief = msg.sender; function boss() internal view returns (address) { return chief; }',
  'address private chief = msg.sender; function boss() internal view returns (address) { return chief; }',
  'address public owner = msg.sender; function boss() internal view returns (address) { return owner; }',
  // Looks renounced.
  'address private chief = msg.sender; function boss() internal view returns (address) { return chief; } function owner() external pure returns (address) { return address(0); }',
]

export const TRAP_NAMES = Object.keys(TRAPS)

/** The contracts `M0`, `M1` … of one source. */
export function mutantSource(traps: readonly string[], random: Random): string {
  const word = () =>
    Array.from({ length: random.int(3, 10) }, () => String.fromCharCode(97 + random.int(0, 25))).join('')
  const contracts = traps.map((name, place) => {
    const trap = TRAPS[name]?.({ f: `x${word()}`, g: `y${word()}` }, random) ?? {}
    const noise = random.chance(0.5)
      ? `function z${word()}() external view returns (uint256) { return totalSupply + ${random.int(1, 99)}; }`
      : ''
    return `contract M${place} {
      string public name = "${word()}"; string public symbol = "M"; uint8 public constant decimals = 18;
      uint256 public totalSupply = 1000000000 ether;
      mapping(address => uint256) public balanceOf; mapping(address => mapping(address => uint256)) public allowance;
      event Transfer(address indexed from, address indexed to, uint256 value);
      ${random.pick(BOSSES)}
      modifier onlyBoss() { require(msg.sender == boss()); _; }
      ${trap.state ?? ''} ${trap.code ?? ''} ${noise}
      constructor() { balanceOf[msg.sender] = totalSupply; }
      function transfer(address to, uint256 value) external returns (bool) { move(msg.sender, to, value); return true; }
      function transferFrom(address from, address to, uint256 value) external returns (bool) { allowance[from][msg.sender] -= value; move(from, to, value); return true; }
      function approve(address spender, uint256 value) external returns (bool) { allowance[msg.sender][spender] = value; return true; }
      function move(address from, address to, uint256 value) internal {
        ${trap.check ?? ''}
        uint256 tax = from == boss() || to == boss() ? 0 : value * (${trap.tax ?? '0'}) / 100;
        balanceOf[from] -= value; balanceOf[to] += value - tax; if (tax > 0) balanceOf[boss()] += tax;
        emit Transfer(from, to, value - tax);
      }
    }`
  })
  return `pragma solidity 0.8.28; interface IJudge { function ok(address from, address to) external view returns (bool); }\n${contracts.join('\n')}`
}
