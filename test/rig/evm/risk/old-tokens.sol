// SPDX-License-Identifier: Apache-2.0
// A plain token that every compiler from 0.4.22 to 0.7 accepts, in the style of those years.
pragma solidity >=0.4.22 <0.8.0;

contract OldPlain {
    string public name = "Old";
    string public symbol = "OLD";
    uint8 public decimals = 18;
    address public owner;
    uint256 private supply = 1000000000 * 10**18;
    mapping(address => uint256) private balances;
    mapping(address => mapping(address => uint256)) private allowed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() public {
        owner = msg.sender;
        balances[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function totalSupply() public view returns (uint256) {
        return supply;
    }

    function balanceOf(address account) public view returns (uint256) {
        return balances[account];
    }

    function allowance(address from, address spender) public view returns (uint256) {
        return allowed[from][spender];
    }

    function sub(uint256 a, uint256 b) internal pure returns (uint256) {
        require(b <= a, "SafeMath: subtraction overflow");
        return a - b;
    }

    function transfer(address to, uint256 value) public returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) public returns (bool) {
        move(from, to, value);
        allowed[from][msg.sender] = sub(allowed[from][msg.sender], value);
        return true;
    }

    function approve(address spender, uint256 value) public returns (bool) {
        allowed[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function increaseAllowance(address spender, uint256 added) public returns (bool) {
        allowed[msg.sender][spender] += added;
        return true;
    }

    function renounceOwnership() public {
        require(msg.sender == owner);
        owner = address(0);
    }

    function move(address from, address to, uint256 value) internal {
        require(to != address(0), "ERC20: transfer to the zero address");
        balances[from] = sub(balances[from], value);
        balances[to] += value;
        emit Transfer(from, to, value);
    }
}
