// SPDX-License-Identifier: Apache-2.0
// Tokens that do what traders fear, one thing each, and plain ones. compile.ts compiles them into tokens.json.
pragma solidity >=0.8.20 <0.9.0;

contract Plain {
    string public name = "Plain";
    string public symbol = "PLN";
    uint8 public constant decimals = 18;
    uint256 public totalSupply = 1_000_000_000 ether;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

abstract contract Owned is Plain {
    address public owner = msg.sender;
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function transferOwnership(address to) external onlyOwner {
        emit OwnershipTransferred(owner, to);
        owner = to;
    }

    function renounceOwnership() external onlyOwner {
        emit OwnershipTransferred(owner, address(0));
        owner = address(0);
    }
}

contract PlainOwned is Owned {}

contract PlainBurnable is Owned {
    function burn(uint256 value) external {
        balanceOf[msg.sender] -= value;
        totalSupply -= value;
        emit Transfer(msg.sender, address(0), value);
    }
}

contract PlainPermit is Plain {
    mapping(address => uint256) public nonces;
    bytes32 public immutable DOMAIN_SEPARATOR = keccak256(abi.encode(block.chainid, address(this)));

    function permit(address from, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp <= deadline);
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR, keccak256(abi.encode(from, spender, value, nonces[from]++, deadline))));
        require(from != address(0) && ecrecover(digest, v, r, s) == from);
        allowance[from][spender] = value;
    }
}

// Nobody but the owner can send it to a contract: whoever buys it keeps it.
contract Honeypot is Owned {
    function _move(address from, address to, uint256 value) internal override {
        require(from == owner || to == owner || to.code.length == 0, "no");
        super._move(from, to, value);
    }
}

contract Tax10 is Plain {
    address private immutable keeper = msg.sender;

    function _move(address from, address to, uint256 value) internal override {
        bool isFree = from == keeper || to == keeper;
        uint256 tax = isFree ? 0 : value / 10;
        super._move(from, to, value - tax);
        if (tax > 0) super._move(from, keeper, tax);
    }
}

contract Taxable is Owned {
    uint256 public fee;
    event FeeChanged(uint256 fee);

    function setFee(uint256 percent) external onlyOwner {
        fee = percent;
        emit FeeChanged(percent);
    }

    function _move(address from, address to, uint256 value) internal override {
        uint256 tax = from == owner || to == owner ? 0 : (value * fee) / 100;
        super._move(from, to, value - tax);
        if (tax > 0) super._move(from, owner, tax);
    }
}

contract Stoppable is Owned {
    bool public paused;
    event Paused(address account);
    event Unpaused(address account);

    function pause() external onlyOwner {
        paused = true;
        emit Paused(msg.sender);
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpaused(msg.sender);
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!paused, "paused");
        super._move(from, to, value);
    }
}

contract Mintable is Owned {
    function mint(address to, uint256 value) external onlyOwner {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

contract Blocking is Owned {
    mapping(address => bool) public isBlacklisted;

    function setBlacklist(address account, bool isBlocked) external onlyOwner {
        isBlacklisted[account] = isBlocked;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!isBlacklisted[from] && !isBlacklisted[to], "blocked");
        super._move(from, to, value);
    }
}

// Nobody but the deployer may hold more than 2 %; contracts may.
contract Capped is Plain {
    address private immutable keeper = msg.sender;

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        require(to == keeper || to.code.length > 0 || balanceOf[to] <= totalSupply / 50, "too much");
    }
}

// The name of the setter says nothing.
contract Disguised is Owned {
    uint256 private level;

    function syncState(uint256 value) external onlyOwner {
        level = value;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(level == 0 || from == owner || to == owner, "no");
        super._move(from, to, value);
    }
}

// One movement of a wallet in a block.
contract Patient is Plain {
    mapping(address => uint256) private last;

    function _move(address from, address to, uint256 value) internal override {
        if (from.code.length == 0) require(last[from] != block.number, "wait");
        if (to.code.length == 0) last[to] = block.number;
        super._move(from, to, value);
    }
}

contract Mortal is Owned {
    function close() external onlyOwner {
        selfdestruct(payable(owner));
    }
}

// Its storage is laid out for a proxy: set by `initialize` instead of a constructor.
contract Implementation {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function owner() external pure returns (address) {
        return address(0);
    }

    function initialize(address holder) external {
        require(totalSupply == 0);
        (name, symbol, totalSupply) = ("Behind", "BHD", 1_000_000_000 ether);
        balanceOf[holder] = totalSupply;
        emit Transfer(address(0), holder, totalSupply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// What a proxy is changed to: it cannot be sold any more.
contract Trap is Implementation {
    function _move(address from, address to, uint256 value) internal override {
        require(to.code.length == 0, "no");
        super._move(from, to, value);
    }
}

contract Proxy1967 {
    event Upgraded(address indexed implementation);

    constructor(address implementation) {
        _set(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation);
        _set(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, msg.sender);
    }

    function _set(bytes32 slot, address value) private {
        assembly {
            sstore(slot, value)
        }
    }

    function upgradeTo(address implementation) external {
        bytes32 slot = 0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103;
        address admin;
        assembly {
            admin := sload(slot)
        }
        require(msg.sender == admin);
        _set(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation);
        emit Upgraded(implementation);
    }

    fallback() external {
        bytes32 slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}

contract Beacon {
    address public implementation;

    constructor(address given) {
        implementation = given;
    }
}

contract BeaconProxy {
    constructor(address beacon) {
        assembly {
            sstore(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50, beacon)
        }
    }

    fallback() external {
        address beacon;
        assembly {
            beacon := sload(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50)
        }
        address implementation = Beacon(beacon).implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
